//! Refs drawn into a picture, without a trace in the page: the picture is decoded, drawn into and encoded again.

use std::io::Cursor;

use glass_proto::op::ImageFormat;
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::codecs::webp::WebPEncoder;
use image::{ExtendedColorType, ImageEncoder as _, ImageError, ImageReader, Limits, Rgb, RgbImage};

/// Pixels of a glyph's cell.
const CELL: (u32, u32) = (6, 8);
/// Size of one dot of a glyph in the picture.
const DOT: u32 = 2;
/// Colours that follow each other, so that neighbours differ.
const COLORS: [[u8; 3]; 6] =
    [[200, 0, 60], [0, 90, 200], [0, 120, 60], [150, 60, 0], [110, 0, 160], [0, 110, 120]];

/// A box with the text that is drawn at its corner, in pixels.
pub(super) struct Label<'a> {
    pub(super) text: &'a str,
    pub(super) area: [u32; 4],
}

/// The picture (a PNG) with the labels drawn in, in the wanted format.
pub(super) fn draw(
    png: &[u8],
    labels: &[Label<'_>],
    format: ImageFormat,
    quality: u8,
) -> Result<Vec<u8>, ImageError> {
    let mut reader = ImageReader::with_format(Cursor::new(png), image::ImageFormat::Png);
    // Only the sides that a picture of ours can have, whatever the browser says.
    let mut limits = Limits::default();
    limits.max_image_width = Some(glass_proto::op::Screenshot::MAX_SIDE);
    limits.max_image_height = Some(glass_proto::op::Screenshot::MAX_SIDE);
    reader.limits(limits);
    let mut picture = reader.decode()?.into_rgb8();
    for (at, label) in labels.iter().enumerate() {
        frame(&mut picture, label, Rgb(COLORS[at % COLORS.len()]));
    }
    let mut out = Vec::new();
    let (width, height) = picture.dimensions();
    let color = ExtendedColorType::Rgb8;
    match format {
        ImageFormat::Png => PngEncoder::new(&mut out).write_image(&picture, width, height, color)?,
        ImageFormat::Jpeg => {
            JpegEncoder::new_with_quality(&mut out, quality).write_image(&picture, width, height, color)?;
        }
        ImageFormat::Webp => {
            WebPEncoder::new_lossless(&mut out).write_image(&picture, width, height, color)?;
        }
    }
    Ok(out)
}

fn frame(picture: &mut RgbImage, label: &Label<'_>, color: Rgb<u8>) {
    let [x, y, width, height] = label.area;
    let (columns, rows) = picture.dimensions();
    let right = x.saturating_add(width.max(1) - 1).min(columns.saturating_sub(1));
    let lower = y.saturating_add(height.max(1) - 1).min(rows.saturating_sub(1));
    for line in 0..2 {
        for column in x..=right {
            dot(picture, column, y.saturating_add(line), color);
            dot(picture, column, lower.saturating_sub(line), color);
        }
        for row in y..=lower {
            dot(picture, x.saturating_add(line), row, color);
            dot(picture, right.saturating_sub(line), row, color);
        }
    }
    write(picture, label.text, (x, y), color);
}

/// White words on a bar of the colour, above the box where there is room and in it otherwise.
fn write(picture: &mut RgbImage, text: &str, (x, y): (u32, u32), color: Rgb<u8>) {
    let letters = u32::try_from(text.len()).unwrap_or(0);
    let (width, height) = (letters * CELL.0 * DOT + DOT, (CELL.1 + 1) * DOT);
    let left = x.min(picture.width().saturating_sub(width));
    let top = y.checked_sub(height).unwrap_or(y);
    for row in top..top.saturating_add(height) {
        for column in left..left.saturating_add(width) {
            dot(picture, column, row, color);
        }
    }
    for (at, letter) in (0_u32..).zip(text.bytes()) {
        for (line, bits) in (0_u32..).zip(glyph(letter)) {
            for column in 0..5 {
                if bits & (1 << (4 - column)) != 0 {
                    let (px, py) = (left + DOT + (at * CELL.0 + column) * DOT, top + DOT + line * DOT);
                    for dx in 0..DOT {
                        for dy in 0..DOT {
                            dot(picture, px + dx, py + dy, Rgb([255; 3]));
                        }
                    }
                }
            }
        }
    }
}

fn dot(picture: &mut RgbImage, x: u32, y: u32, color: Rgb<u8>) {
    if let Some(pixel) = picture.get_pixel_mut_checked(x, y) {
        *pixel = color;
    }
}

/// Seven rows of five dots: the letters that refs are made of.
fn glyph(letter: u8) -> [u8; 7] {
    match letter {
        b'0' => [0b01110, 0b10001, 0b10011, 0b10101, 0b11001, 0b10001, 0b01110],
        b'1' => [0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110],
        b'2' => [0b01110, 0b10001, 0b00001, 0b00110, 0b01000, 0b10000, 0b11111],
        b'3' => [0b11110, 0b00001, 0b00001, 0b01110, 0b00001, 0b00001, 0b11110],
        b'4' => [0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010],
        b'5' => [0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110],
        b'6' => [0b00110, 0b01000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110],
        b'7' => [0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b01000, 0b01000],
        b'8' => [0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110],
        b'9' => [0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00010, 0b01100],
        b'e' => [0b00000, 0b00000, 0b01110, 0b10001, 0b11111, 0b10000, 0b01110],
        b'f' => [0b00110, 0b01000, 0b11110, 0b01000, 0b01000, 0b01000, 0b01000],
        _ => [0b11111, 0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b11111],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn white(width: u32, height: u32) -> Vec<u8> {
        let picture = RgbImage::from_pixel(width, height, Rgb([255; 3]));
        let mut png = Vec::new();
        PngEncoder::new(&mut png)
            .write_image(&picture, width, height, ExtendedColorType::Rgb8)
            .expect("a png");
        png
    }

    #[test]
    fn boxes_are_drawn_where_they_are_and_edges_hold() {
        let labels = [
            Label { text: "e12", area: [40, 40, 30, 20] },
            Label { text: "f2e3", area: [0, 0, 5, 5] },
            Label { text: "e9", area: [95, 95, 4000, u32::MAX] },
        ];
        let drawn = draw(&white(100, 100), &labels, ImageFormat::Png, 80).expect("a picture");
        let picture = image::load_from_memory(&drawn).expect("it decodes").into_rgb8();
        assert_eq!(picture.get_pixel(69, 59).0, COLORS[0]);
        assert_eq!(picture.get_pixel(55, 50).0, [255; 3]);
        for format in [ImageFormat::Jpeg, ImageFormat::Webp] {
            let drawn = draw(&white(50, 50), &labels[..1], format, 80).expect("a picture");
            let size = imagesize::blob_size(&drawn).expect("a size");
            assert_eq!((size.width, size.height), (50, 50));
        }
    }
}
