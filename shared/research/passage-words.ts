/** A word of a claim or a passage as the two are compared. */
export interface PassageWord {
  /** What it is compared by: a stem, a number by its value, a unit by its symbol, a sign as it is. */
  readonly key: string
  readonly kind: 'word' | 'name' | 'number' | 'light'
  /** What stands between it and the word before: a comma, a bracket, a dash, a colon. */
  readonly apart: boolean
  /** `king's`: the next word belongs to it. */
  readonly possessive: boolean
  /** Begins a clause that can stand alone: after a semicolon, or a comma with and, but, while. */
  readonly clause: number
  /** The light word right before it (`by`, `from`), if any. */
  readonly before: string
}

/**
 * The words of one sentence. Inflection is taken off by rule, digits and number words are one number by value, units after
 * a number are one symbol each, `n't` and `cannot` say `not`. Words that only hold a sentence together are light. Linear.
 */
export function passageWords(text: string): readonly PassageWord[] {
  const raw = [...clean(text).matchAll(PIECE)].map(([piece]) => piece)
  const words: PassageWord[] = []
  let clause = 0
  let apart = false
  let before = ''
  for (let at = 0; at < raw.length; at += 1) {
    const piece = raw[at] ?? ''
    if (/^[,;:()[\]{}\u2014\u2013|]$/u.test(piece)) {
      apart = true
      if (piece === ';' || CLAUSE.has((raw[at + 1] ?? '').toLowerCase())) clause += 1
      continue
    }
    const { key, kind, used } = readWord(raw, at, words.at(-1))
    at += used - 1
    const possessive = /['’]s?$/u.test(piece)
    words.push({ key, kind, apart, possessive, clause, before })
    apart = false
    before = kind === 'light' ? key : ''
  }
  return words
}

const CLAUSE: ReadonlySet<string> = new Set(['and', 'but', 'while', 'whereas'])

const ENTITIES: Readonly<Record<string, string>> = {
  quot: '"',
  ldquo: '“',
  rdquo: '”',
  lsquo: '‘',
  rsquo: '’',
  amp: '&',
  apos: "'",
  nbsp: ' ',
}

function clean(text: string): string {
  return text
    .replace(/&(quot|ldquo|rdquo|lsquo|rsquo|amp|apos|nbsp);/g, (whole, name) => ENTITIES[name] ?? whole)
    .replace(/&#39;/g, "'")
    .normalize('NFKC')
    .replace(/[\u2018\u2019]/g, '’')
    .replace(/(?<=\p{L})n['’]t(?!\p{L})/giu, ' not')
    .replace(/\bcannot\b/gi, 'can not')
    .replace(/\bsquare (kilomet|met|mil)/gi, 'square-$1')
    .replace(/\bpercentage points?\b/gi, 'pp')
    .replace(/\bper cent\b/gi, 'percent')
    .replace(DECORATION, ' ')
}

/** Ticks, and marks of a list at its start. */
const DECORATION = /[✓✔✅]\uFE0F?|^\s{0,20}[→▶►●■◆▪]\s/gu

/** `>12`, `~12`, `❌`: a sign turns or bounds what it stands at, so it is a word; what only dresses a unit or a name is none. */
const SIGN = /^(?![°©®™|])[\p{Sm}\p{So}]$/u

export function isSign(key: string): boolean {
  return SIGN.test(key)
}

const PIECE =
  /(?:(?<![\p{L}\p{N}])[-\u2212+])?\p{Sc}?\d+(?:[,\u202f\u00a0'’]\d{3}(?!\d))*(?:\.\d+)?|[\p{L}\p{M}\p{N}_]+(?:['’][\p{L}]+)?['’]?|[%‰\p{Sc}]|[,;:()[\]{}\u2014\u2013|]|(?![°©®™])[\p{Sm}\p{So}]/gu

interface ReadWord {
  readonly key: string
  readonly kind: PassageWord['kind']
  readonly used: number
}

function readWord(raw: readonly string[], at: number, previous: PassageWord | undefined): ReadWord {
  const piece = raw[at] ?? ''
  const number = readNumber(raw, at)
  if (number !== undefined) return number
  const lower = piece.toLowerCase().replace(/['’]s?$/u, '')
  if (previous?.kind === 'number' && Object.hasOwn(UNITS, lower))
    return { key: UNITS[lower] ?? lower, kind: 'word', used: 1 }
  if (Object.hasOwn(SIGNS, lower)) return { key: SIGNS[lower] ?? lower, kind: 'word', used: 1 }
  if (LIGHT.has(lower)) return { key: lower, kind: 'light', used: 1 }
  const isName = /^\p{Lu}/u.test(piece) && (previous !== undefined || /^\p{Lu}.*\p{Lu}/u.test(piece))
  return { key: stem(lower), kind: isName ? 'name' : 'word', used: 1 }
}

const SMALL =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  )
const TENS = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ')
const SCALES: Readonly<Record<string, number>> = { hundred: 2, thousand: 3, million: 6, billion: 9, trillion: 12 }

/** Digits or number words, with the words that scale them: `5 million`, `two hundred`, `$5`. */
function readNumber(raw: readonly string[], at: number): ReadWord | undefined {
  const piece = raw[at] ?? ''
  const digits = /^([-\u2212+]?)(\p{Sc}?)([\d,\u202f\u00a0'’]+(?:\.\d+)?)$/u.exec(piece)
  const start = digits === null ? wordNumber(raw, at) : { value: (digits[3] ?? '').replace(/[^\d.]/g, ''), used: 1 }
  if (start === undefined) return undefined
  let { value, used } = start
  for (let scale = scaleOf(raw[at + used]); scale !== undefined; scale = scaleOf(raw[at + used])) {
    value = scaled(value, scale)
    used += 1
  }
  const minus = /[-\u2212]/u.test(digits?.[1] ?? '') ? '-' : ''
  return { key: `#${minus}${plainNumber(value)}${digits?.[2] ?? ''}`, kind: 'number', used }
}

function scaleOf(piece: string | undefined): number | undefined {
  const lower = piece?.toLowerCase() ?? ''
  return Object.hasOwn(SCALES, lower) ? SCALES[lower] : undefined
}

/** `Zero's` is the number of a name too. */
function bare(piece = ''): string {
  return piece.toLowerCase().replace(/['’]s?$/u, '')
}

/** Words from zero to ninety-nine. */
function wordNumber(raw: readonly string[], at: number): { value: string; used: number } | undefined {
  const lower = bare(raw[at])
  const ten = TENS.indexOf(lower)
  const next = SMALL.indexOf(bare(raw[at + 1]))
  if (ten >= 0)
    return next > 0 && next < 10
      ? { value: `${(ten + 2) * 10 + next}`, used: 2 }
      : { value: `${(ten + 2) * 10}`, used: 1 }
  const small = SMALL.indexOf(lower)
  return small < 0 ? undefined : { value: `${small}`, used: 1 }
}

function scaled(value: string, places: number): string {
  const [whole = '', decimals = ''] = value.split('.')
  const padded = decimals.padEnd(places, '0')
  return `${whole}${padded.slice(0, places)}.${padded.slice(places)}`
}

function plainNumber(value: string): string {
  const [whole = '', decimals = ''] = value.split('.')
  const rest = decimals.replace(/0{1,400}$/, '')
  const front = whole.replace(/^0{1,400}(?=\d)/, '') || '0'
  return rest === '' ? front : `${front}.${rest}`
}

const SIGNS: Readonly<Record<string, string>> = {
  '%': 'percent',
  '‰': 'permille',
  $: 'usd',
  dollar: 'usd',
  dollars: 'usd',
  '€': 'eur',
  euro: 'eur',
  euros: 'eur',
  '£': 'gbp',
}

/** Symbols and words of one unit are one key; different units are different keys. */
const UNITS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    km: 'kilometre kilometres kilometer kilometers',
    m: 'metre metres meter meters',
    cm: 'centimetre centimetres centimeter centimeters',
    mm: 'millimetre millimetres millimeter millimeters',
    km2: 'square-kilometre square-kilometres square-kilometers',
    m2: 'square-metre square-metres',
    mi: 'mile miles',
    ft: 'foot feet',
    kg: 'kilogram kilograms',
    g: 'gram grams',
    t: 'tonne tonnes',
    ms: 'millisecond milliseconds',
    s: 'second seconds sec secs',
    min: 'minute minutes mins',
    h: 'hour hours hrs',
    d: 'day days',
    y: 'year years',
    kw: 'kilowatt kilowatts',
    mw: 'megawatt megawatts',
    l: 'litre litres liter liters',
    mb: 'megabyte megabytes',
    gb: 'gigabyte gigabytes',
  }).flatMap(([key, words]) => [key, ...words.split(' ')].map((word) => [word, key])),
)

/** Hold a sentence together and change nothing of what it says; where a place or an amount follows, they are compared. */
const LIGHT: ReadonlySet<string> = new Set(
  'a an the this that these those is are was were be been being am do does did has have had it its he she they his her their them him who which whose of and as also in on at to from by for with into onto there then out up within between through during toward towards per via upon'.split(
    ' ',
  ),
)

const IRREGULAR: Readonly<Record<string, string>> = Object.fromEntries(
  'flew:fly flown:fly won:win built:build made:make wrote:write written:write led:lead grew:grow grown:grow rose:rise risen:rise fell:fall fallen:fall began:begin begun:begin became:become sold:sell bought:buy lost:lose paid:pay ran:run said:say left:leave met:meet held:hold kept:keep found:find sent:send took:take taken:take gave:give given:give went:go gone:go saw:see seen:see knew:know known:know chose:choose chosen:choose lay:lie lies:lie lain:lie stood:stand spent:spend taught:teach brought:bring drew:draw drawn:draw spoke:speak spoken:speak broke:break broken:break men:man women:woman children:child people:people'
    .split(' ')
    .map((pair) => pair.split(':')),
)

/** Number and tense taken off by rule: `missions`, `borders`, `founded`. */
export function stem(word: string): string {
  if (Object.hasOwn(IRREGULAR, word)) return IRREGULAR[word] ?? word
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word
  const single = word
    .replace(/ies$/, 'y')
    .replace(/(?<=ss|x|ch|sh)es$/, '')
    .replace(/(?<=[^siu])s$/, '')
  const base = single.length > 4 ? single.replace(/(?<=[a-z]{3})(?:ed|ing)$/, '') : single
  return base
    .replace(/([bdgmnprt])\1$/, '$1')
    .replace(/(?<=[a-z]{2})e$/, '')
    .replace(/(?<=[a-z]{2})y$/, 'i')
}
