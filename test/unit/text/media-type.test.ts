import { describe, expect, test } from 'vitest'
import { binaryMediaType } from '../../../shared/text/media-type.ts'

const bytes = (...parts: readonly (string | number)[]) =>
  Uint8Array.from(parts.flatMap((part) => (typeof part === 'number' ? part : [...Buffer.from(part, 'latin1')])))

describe('binaryMediaType()', () => {
  test.each([
    ['image/png', bytes(0x89, 'PNG\r\n', 0x1a, '\n')],
    ['image/jpeg', bytes(0xff, 0xd8, 0xff, 0xe0)],
    ['image/gif', bytes('GIF89a')],
    ['image/webp', bytes('RIFF', 1, 2, 3, 4, 'WEBPVP8 ')],
    ['audio/wav', bytes('RIFF', 1, 2, 3, 4, 'WAVEfmt ')],
    ['application/pdf', bytes('%PDF-1.7\n')],
    ['audio/mpeg', bytes('ID3', 4)],
    ['audio/ogg', bytes('OggS', 0)],
    ['audio/flac', bytes('fLaC')],
    ['video/mp4', bytes(0, 0, 0, 32, 'ftypisom')],
    ['video/webm', bytes(0x1a, 0x45, 0xdf, 0xa3)],
    ['application/octet-stream', bytes('PK', 3, 4, 0, 0)],
  ])('%s by its first bytes', (type, given) => {
    expect(binaryMediaType(given)).toBe(type)
  })

  test.each([
    ['nothing', bytes()],
    ['UTF-8', Buffer.from('Grüße, 世界\t\r\n')],
    ['another encoding', bytes('Gr', 0xfc, 0xdf, 'e')],
    ['less than the first bytes of something', bytes(0x89, 'PNG')],
    ['JSON', Buffer.from('{"RIFF": 1}')],
  ])('undefined for a text: %s', (_, given) => {
    expect(binaryMediaType(given)).toBeUndefined()
  })
})
