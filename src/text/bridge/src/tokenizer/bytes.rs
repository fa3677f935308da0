//! The byte alphabet of GPT-2.

/// The character that stands for each byte.
pub fn byte_characters() -> [char; 256] {
    let mut table = ['\0'; 256];
    let mut spare = 0x100;
    for byte in 0..=255u8 {
        let printable = matches!(byte, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF);
        table[usize::from(byte)] = if printable {
            char::from(byte)
        } else {
            spare += 1;
            char::from_u32(spare - 1).unwrap_or('\0')
        };
    }
    table
}
