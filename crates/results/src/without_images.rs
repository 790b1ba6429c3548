//! Images in a build without the feature `images`: none is shown to a model, because none can be checked.

use mcparley_model::limits::RESULT_IMAGES;

/// An image that a model accepts: there is none.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FittedImage {
    pub(super) mime: &'static str,
    pub(super) bytes: Option<Vec<u8>>,
    pub(super) remark: Option<String>,
}

/// The reason an image cannot be shown to a model.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ImageError {
    #[error("this program was built without images")]
    NotBuilt,
    #[error("it is damaged")]
    Damaged,
    #[error("a result may show at most {RESULT_IMAGES} images")]
    TooMany,
}

/// Refuses every image.
pub(super) fn fit_image(_bytes: &[u8], _declared: &str) -> Result<FittedImage, ImageError> {
    Err(ImageError::NotBuilt)
}
