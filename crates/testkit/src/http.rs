//! stub
use crate::options::Options;
pub(crate) fn serve(_options: Options) -> std::io::Result<()> {
    Ok(())
}
