import type { Json } from '../../shared/text/json.ts'

/** What a model or a person may put where a gate looks. `nothing`: no gate that reads it may pass. */
export interface HostileValue {
  readonly name: string
  readonly value: Json | undefined
  readonly nothing?: true
}

const MB = 1_000_000

/** As `whole` with large ones, just inside the widest limits and far over all of them, and deep ones; else without them. */
export type HostileSize = 'whole' | 'small'

/** As text and as what text becomes: `{"__proto__": ..}` has an own key of that name. */
const PROTOTYPE = '{"__proto__": {"admin": true}, "constructor": {"prototype": {}}, "toString": 1, "length": 9}'

/** Made anew by each call: some are large. */
export function hostileValues(size: HostileSize = 'whole'): readonly HostileValue[] {
  const small = [...nothings(), ...texts(), ...numbers(), ...structures()]
  return size === 'whole' ? [...small, ...deep(), ...large()] : small
}

function nothings(): readonly HostileValue[] {
  return [
    { name: 'no value', value: undefined, nothing: true },
    { name: 'null', value: null, nothing: true },
    { name: 'NaN', value: Number.NaN, nothing: true },
    { name: 'Infinity', value: Number.POSITIVE_INFINITY, nothing: true },
    { name: '-Infinity', value: Number.NEGATIVE_INFINITY, nothing: true },
    { name: 'a lone surrogate', value: '\ud83d text', nothing: true },
    { name: 'a list with NaN', value: [1, Number.NaN], nothing: true },
    { name: 'a lone surrogate as a key', value: { '\udc00': 1 }, nothing: true },
  ]
}

function texts(): readonly HostileValue[] {
  return [
    { name: 'empty text', value: '' },
    { name: 'spaces and line ends', value: ' \t\r\n\u2028\u00a0' },
    { name: 'zero-width characters only', value: '\u200b\u200c\u200d\u2060\ufeff' },
    { name: 'text between bidi overrides', value: '\u202eapproved\u202c \u2066ok\u2069' },
    { name: 'a word with zero-width characters', value: 'Ri\u200bsks and Co\u00adsts' },
    { name: 'NUL and controls', value: 'a\0b\u001b[2Jc\u0007' },
    { name: 'letters of other scripts that look the same', value: 'Rіsks аnd Cоsts' },
    { name: 'characters of many code points', value: `e${'\u0301'.repeat(1_000)} 👨‍👩‍👧‍👦` },
    { name: 'a template and a replacement', value: '{{inputs.x}} <%= process.env %> $& $1 %s' },
    { name: 'prototype keys as text', value: PROTOTYPE },
    { name: 'JSON with a key twice', value: '{"id": 1, "id": null}' },
    { name: '10,000 levels of JSON as text', value: `${'['.repeat(10_000)}${']'.repeat(10_000)}` },
  ]
}

function numbers(): readonly HostileValue[] {
  return [
    { name: '-0', value: -0 },
    { name: '1e308', value: 1e308 },
    { name: 'the text 1e999', value: '1e999' },
    { name: 'the text NaN', value: 'NaN' },
    { name: 'the text 0x10', value: '0x10' },
    { name: 'the text " 1 "', value: ' 1 ' },
    { name: 'digits of another script', value: '١٢٣' },
    { name: 'true', value: true },
  ]
}

function structures(): readonly HostileValue[] {
  return [
    { name: 'prototype keys', value: JSON.parse(PROTOTYPE) as Json },
    { name: 'an object with toJSON', value: { toJSON: 'x', valueOf: 1 } },
    { name: 'an empty list', value: [] },
    { name: 'an empty object', value: {} },
  ]
}

function deep(): readonly HostileValue[] {
  return [
    { name: '40,000 levels of lists', value: nested((inner) => [inner]) },
    { name: '40,000 levels of objects', value: nested((inner) => ({ a: inner })) },
  ]
}

/** Deeper than any stack: how deep one is depends on how warm the code is. */
function nested(wrap: (inner: Json) => Json): Json {
  let value: Json = 1
  for (let level = 1; level < 40_000; level += 1) value = wrap(value)
  return value
}

function large(): readonly HostileValue[] {
  const text = (mb: number, of: string, piece: string, before = '') => {
    const value = before + piece.repeat((mb * MB) / piece.length)
    return { name: `${mb.toLocaleString('en')} MB of ${of}`, value }
  }
  const [keys, items] = [100_000, 300_000]
  return [
    {
      name: `${keys.toLocaleString('en')} keys`,
      value: Object.fromEntries(Array.from({ length: keys }, (_, i) => [`k${i}`, i])),
    },
    { name: `${items.toLocaleString('en')} items`, value: Array.from({ length: items }, () => 1) },
    text(1, 'open brackets', '['),
    text(1, 'escaped quotes', '\\"', '["'),
    text(1, 'half tags', '<a '),
    text(4, 'words', 'a b '),
    text(4, 'quotes', '"'),
    text(4, 'headings', '# a\n'),
    text(10, 'one letter', 'a'),
    text(1, 'digits', '1'),
    text(10, 'emoji', '👍👍'),
  ]
}
