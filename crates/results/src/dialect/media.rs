//! Media types that the APIs accept in results.

/// The media types that one API accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MediaSupport {
    /// Images for Anthropic.
    Anthropic,
    /// Images for OpenAI.
    OpenAi,
    /// Images and audio for Gemini.
    Gemini,
    /// No media, because the place accepts text only.
    TextOnly,
}

/// Media that an API accepts, in base64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Media<'r> {
    pub(super) mime: &'static str,
    pub(super) data: &'r str,
}

impl<'r> Media<'r> {
    /// The media, if the API accepts its type.
    pub(super) fn new(mime: &str, data: &'r str, support: MediaSupport) -> Option<Self> {
        let essence = mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        // Servers write this alias, and APIs reject it.
        let essence = if essence == "image/jpg" { "image/jpeg" } else { essence.as_str() };
        let mime = support.media_types().iter().copied().find(|known| *known == essence)?;
        (!data.is_empty()).then_some(Self { mime, data })
    }
}

impl MediaSupport {
    /// The documented media types of the API.
    fn media_types(self) -> &'static [&'static str] {
        match self {
            Self::Anthropic | Self::OpenAi => &["image/png", "image/jpeg", "image/gif", "image/webp"],
            Self::Gemini => &[
                "image/png",
                "image/jpeg",
                "image/webp",
                "image/heic",
                "image/heif",
                "audio/wav",
                "audio/mp3",
                "audio/aiff",
                "audio/aac",
                "audio/ogg",
                "audio/flac",
            ],
            Self::TextOnly => &[],
        }
    }
}
