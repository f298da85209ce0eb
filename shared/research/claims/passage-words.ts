import { normalizeMarks } from '../../text/quotations.ts'

/** A word of a claim or a passage as the two are compared. Articles are none: the word behind one knows of it. */
export interface PassageWord {
  /** What it is compared by: the word in small letters, a number by its value, a unit by its symbol, a sign as it is. */
  readonly key: string
  /** The same without number and tense, for words that are looked up in a list and for predicates of facts. */
  readonly stem: string
  /** As it is written, in small letters: what a quotation and another language than English are compared by. */
  readonly raw: string
  readonly kind: 'word' | 'name' | 'number' | 'light'
  /** What stands between it and the word before: a comma, a bracket, a dash, a colon. */
  readonly apart: boolean
  /** `king's`: the next word belongs to it. */
  readonly possessive: boolean
  /** Counts clauses that can stand alone: after a semicolon, or a comma with and, but, while and a subject. */
  readonly clause: number
  /** `the ship`, `a ship`. */
  readonly article: boolean
}

/**
 * The words of one sentence. Digits and number words are one number by value, units after a number are one symbol each,
 * `n't` and `cannot` say `not`. Words that only hold a sentence together are light. Linear.
 */
export function passageWords(text: string): readonly PassageWord[] {
  const raw = [...clean(text).matchAll(PIECE)].map(([piece]) => piece)
  const words: PassageWord[] = []
  let [clause, apart, article] = [0, false, false]
  for (let at = 0; at < raw.length; ) {
    const piece = raw[at] ?? ''
    if (SET_APART.test(piece)) {
      apart = true
      clause += piece === ';' || beginsClause(raw, at + 1) ? 1 : 0
      at += 1
    } else if (isArticle(piece, words.length)) {
      article = true
      at += 1
    } else {
      const { used, ...word } = readWord(raw, at, words.at(-1))
      const possessive = /['’]s?$/u.test(piece)
      words.push({ ...word, stem: stem(word.key), raw: asWritten(raw, at, used), apart, possessive, clause, article })
      words.push(...unitBefore(word.kind, piece, clause))
      apart = false
      article = false
      at += used
    }
  }
  return words
}

/** `Grades from A to F` has a name. */
function isArticle(piece: string, at: number): boolean {
  return /^(?:the|an?)$/.test(piece) || /^(?:The|THE|An|AN)$/.test(piece) || (piece === 'A' && at === 0)
}

function asWritten(raw: readonly string[], at: number, used: number): string {
  const written = raw.slice(at, at + used).join(' ')
  return written.toLowerCase().replace(/[\u2010-\u2015\u2212]/g, '-')
}

/** `$5` is `5 dollars`. */
function unitBefore(kind: PassageWord['kind'], piece: string, clause: number): readonly PassageWord[] {
  const sign = kind === 'number' ? /\p{Sc}/u.exec(piece)?.[0] : undefined
  if (sign === undefined) return []
  const key = SIGNS[sign] ?? sign
  return [{ ...NO_WORD, key, stem: key, raw: sign, clause }]
}

const SET_APART = /^[,;:()[\]{}\u2014\u2013|]$/u

/** `, and the annex opened`; not `, and not in children`, `, and has two cameras`: those go on. */
function beginsClause(raw: readonly string[], at: number): boolean {
  const [conjunction, next] = [raw[at]?.toLowerCase() ?? '', raw[at + 1]?.toLowerCase() ?? '']
  return CLAUSE.has(conjunction) && !GOES_ON.has(next)
}

const CLAUSE: ReadonlySet<string> = new Set(['and', 'but', 'while', 'whereas', 'so'])

export const BE: ReadonlySet<string> = new Set('is are am was were be been being'.split(' '))
export const PREPOSITIONS: ReadonlySet<string> = new Set(
  'of in on at to from by for with into onto out up within between through during toward towards per via upon'.split(
    ' ',
  ),
)
const GOES_ON: ReadonlySet<string> = new Set([
  ...BE,
  ...PREPOSITIONS,
  ...'do does did has have had not never no only neither nor without hardly perhaps possibly maybe probably then also so that far much as or if unless except'.split(
    ' ',
  ),
])

function clean(text: string): string {
  return normalizeMarks(text)
    .replace(/\u00ad[^\S\n]{0,20}\n[^\S\n]{0,20}|[\u00ad\u200b-\u200d\u2060\ufeff]/gu, '')
    .replace(/(?<![\p{L}\p{N}])_{1,3}(?=[\p{L}\p{N}])|(?<=[\p{L}\p{N}.!?])_{1,3}(?![\p{L}\p{N}])/gu, ' ')
    .normalize('NFKC')
    .replace(/[\u2018\u2019]/g, '’')
    .replace(/(?<=\p{L})n['’]t(?!\p{L})/giu, ' not')
    .replace(/\bcannot\b/gi, 'can not')
    .replace(/\b(?:square|sq\.?) (k|kilo|c|centi|m|milli)?(?:m|metres?|meters?)\b/gi, (_, of) => `${prefix(of)}m2`)
    .replace(/\bcubic (k|kilo|c|centi|m|milli)?(?:m|metres?|meters?)\b/gi, (_, of) => `${prefix(of)}m3`)
    .replace(/\bsquare (mile|foot|feet|inch)/gi, 'square_$1')
    .replace(/\bpercentage points?\b/gi, 'pp')
    .replace(/\bper cent\b/gi, 'percent')
    .replace(/\ba (few|little)\b/gi, 'a_$1')
    .replace(DECORATION, ' ')
}

function prefix(of: string | undefined): string {
  return (of ?? '').slice(0, 1).toLowerCase()
}

/** Ticks, and marks of a list at its start. */
const DECORATION = /[✓✔✅]\uFE0F?|^\s{0,20}[→▶►●■◆▪]\s/gu

/** `>12`, `~12`, `❌`: a sign turns or bounds what it stands at, so it is a word; what only dresses a unit or a name is none. */
const SIGN = /^(?![°©®™|])[\p{Sm}\p{So}]$/u

export function isSign(key: string): boolean {
  return SIGN.test(key)
}

/** Digits with what joins them (`3-1`, `9:30`, `1/3`, `2025-01-31`) are one piece: none of it can be left out. */
const PIECE =
  /\d+(?:[sS][tT]|[nN][dD]|[rR][dD]|[tT][hH])(?![\p{L}\p{N}])|(?:(?<![\p{L}\p{N}])[-\u2212+])?\p{Sc}?\d+(?:[.,:/'’\u202f\u00a0\u2010-\u2013-]\d+)*|[\p{L}\p{M}\p{N}_]+(?:['’][\p{L}]+)?['’]?|[%‰\p{Sc}]|[,;:()[\]{}\u2014\u2013|]|(?![°©®™])[\p{Sm}\p{So}]/gu

interface ReadWord {
  readonly key: string
  readonly kind: PassageWord['kind']
  readonly used: number
}

function readWord(raw: readonly string[], at: number, previous: PassageWord | undefined): ReadWord {
  const piece = raw[at] ?? ''
  const number = readOrdinal(raw, at, previous) ?? readNumber(raw, at)
  if (number !== undefined) return number
  const lower = bare(piece)
  if (previous?.kind === 'number' && Object.hasOwn(UNITS, lower))
    return { key: UNITS[lower] ?? lower, kind: 'word', used: 1 }
  if (Object.hasOwn(SIGNS, lower)) return { key: SIGNS[lower] ?? lower, kind: 'word', used: 1 }
  if (LIGHT.has(lower)) return { key: lower, kind: 'light', used: 1 }
  const isName = /^\p{Lu}/u.test(piece) && (previous !== undefined || /^\p{Lu}.*\p{Lu}/u.test(piece))
  return { key: lower, kind: isName ? 'name' : 'word', used: 1 }
}

/** `2nd` and `second`, where that is no unit of time. */
function readOrdinal(raw: readonly string[], at: number, previous: PassageWord | undefined): ReadWord | undefined {
  const piece = raw[at] ?? ''
  const digits = /^(\d+)[a-z]{2}$/i.exec(piece)?.[1]
  if (digits !== undefined) return { key: `#${plainNumber(digits)}th`, kind: 'word', used: 1 }
  const nth = previous?.kind === 'number' ? -1 : ORDINALS.indexOf(piece.toLowerCase())
  return nth < 0 ? undefined : { key: `#${nth + 1}th`, kind: 'word', used: 1 }
}

const ORDINALS = 'first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth'.split(' ')

const SMALL =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  )
const TENS = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ')
const SCALES: Readonly<Record<string, number>> = { hundred: 2, thousand: 3, million: 6, billion: 9, trillion: 12 }

/**
 * Digits or number words, with the words that scale them: `5 million`, `two hundred`, `$5`. Zeros at the end count unless
 * a unit, a percent or a scale follows: version 1.10 is not version 1.1. What is no plain number is as it is written.
 */
function readNumber(raw: readonly string[], at: number): ReadWord | undefined {
  const piece = raw[at] ?? ''
  const digits = /^([-\u2212+]?)(\p{Sc}?)(\d.*)$/u.exec(piece)
  const written = digits?.[3] ?? ''
  if (digits !== null && !PLAIN.test(written)) {
    return { key: `#${digits[1]}${written.replace(/[\u2010-\u2013]/gu, '-')}`, kind: 'number', used: 1 }
  }
  const start = digits === null ? wordNumber(raw, at) : { value: written.replace(/[^\d.]/g, ''), used: 1 }
  if (start === undefined) return undefined
  let { value, used } = start
  for (let scale = scaleOf(raw[at + used]); scale !== undefined; scale = scaleOf(raw[at + used])) {
    value = scaled(value, scale)
    used += 1
  }
  const minus = /[-\u2212]/u.test(digits?.[1] ?? '') ? '-' : ''
  const next = bare(raw[at + used])
  const isAmount = used > 1 || digits?.[2] !== '' || Object.hasOwn(UNITS, next) || Object.hasOwn(SIGNS, next)
  const plain = isAmount || !value.includes('.') ? plainNumber(value) : value
  return { key: `#${minus}${plain}`, kind: 'number', used }
}

const PLAIN = /^(?:\d+|\d{1,3}(?:[,'’\u00a0\u202f]\d{3})+)(?:\.\d+)?$/u

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
export const UNITS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    km: 'kilometre kilometres kilometer kilometers',
    m: 'metre metres meter meters',
    cm: 'centimetre centimetres centimeter centimeters',
    mm: 'millimetre millimetres millimeter millimeters',
    km2: '',
    m2: '',
    cm2: '',
    m3: '',
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
  }).flatMap(([key, words]) => [key, ...words.split(' ')].filter((word) => word !== '').map((word) => [word, key])),
)

/** Hold a sentence together: compared like all others, but no sentence is made of them. */
const LIGHT: ReadonlySet<string> = new Set([
  ...BE,
  ...PREPOSITIONS,
  ...'this that these those do does did has have had it its he she they his her their them him who which whose and as also there then'.split(
    ' ',
  ),
])

const IRREGULAR: Readonly<Record<string, string>> = Object.fromEntries(
  'flew:fly flown:fly won:win built:build made:make wrote:write written:write led:lead grew:grow grown:grow rose:rise risen:rise fell:fall fallen:fall began:begin begun:begin became:become sold:sell bought:buy lost:lose paid:pay ran:run said:say left:leave met:meet held:hold kept:keep found:find sent:send took:take taken:take gave:give given:give went:go gone:go saw:see seen:see knew:know known:know chose:choose chosen:choose lay:lie lies:lie lain:lie stood:stand spent:spend taught:teach brought:bring drew:draw drawn:draw spoke:speak spoken:speak broke:break broken:break men:man women:woman children:child people:people'
    .split(' ')
    .map((pair) => pair.split(':')),
)

/** Forms of the past: `flew`, `founded`. */
export function isPast({ raw, kind }: PassageWord): boolean {
  return (
    raw === 'was' || raw === 'were' || raw === 'had' || (kind === 'word' && (/[a-z]{2}ed$/.test(raw) || PAST.has(raw)))
  )
}

const PAST: ReadonlySet<string> = new Set([
  ...Object.keys(IRREGULAR).filter((word) => !/^(?:lies|men|women|children|people)$/.test(word)),
  'beat',
  'hit',
  'put',
  'set',
  'cut',
  'came',
  'got',
  'told',
  'felt',
  'heard',
])

/** Number and tense taken off by rule: `missions`, `borders`, `founded`. */
function stem(word: string): string {
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

/** A number or a unit by its value, whatever else in its very form; in a quotation and in other languages all of it. */
export function isSameWord(a: PassageWord, b: PassageWord | undefined, exactly: boolean): boolean {
  return b !== undefined && (exactly ? a.raw === b.raw : a.key === b.key) && a.possessive === b.possessive
}

/** Where all words of a claim stand one after the other: the place of the last. */
export function matchEnd(
  said: readonly PassageWord[],
  words: readonly PassageWord[],
  from: number,
  exactly: boolean,
): number | undefined {
  return said.every((word, at) => isSameWord(word, words[from + at], exactly)) ? from + said.length - 1 : undefined
}

export const NO_WORD: PassageWord = {
  key: '',
  stem: '',
  raw: '',
  kind: 'word',
  apart: false,
  possessive: false,
  clause: 0,
  article: false,
}

export const OWNERS: ReadonlySet<string> = new Set(['its', 'their', 'his', 'her'])

/**
 * Words that turn or bound what is said. What a passage has of them a claim may not leave out, and a claim brings none
 * of its own: they are compared as all its words are. A claim with one of them has all of its clause.
 */
const NEGATIONS =
  'not no never none nobody nothing nowhere neither nor without fail failed failure lack deny denied refuse decline reject false falsely untrue wrong wrongly hardly scarcely barely rarely seldom yet unable non instead rather unlike contrary myth hoax rumour rumor'
const HEDGES =
  'may might could would should can will shall must need ought possible possibly perhaps maybe probable probably likely unlikely alleged allege allegedly reported report reportedly claim claimed say said tell told according believe believed suspect suspected plan planned expect expected estimate estimated propose proposed intend intended hope aim seem appear suppose supposed supposedly purportedly ostensibly theoretically rumoured apparently potential potentially almost nearly about around approximately roughly think thought argue argued suggest suggested assume assumed predict predicted forecast warn fear insist maintain complain doubt wonder promise threaten attempt try allowed permitted required forbidden virtually so-called formerly'
const BOUNDS =
  'if unless except only until provided whether assuming either or little a_little much apart besides excluding barring otherwise all every each most many few a_few several some any both half least more less fewer than over under above below before after since against minimum maximum up partly partially mostly mainly largely usually often sometimes occasionally generally typically normally when whenever once pending subject'
const TURNING = withStems(`${NEGATIONS} ${HEDGES} ${BOUNDS}`)
export const NEGATING = withStems(NEGATIONS)

/** Of these what is told, planned, possible or bound to something else: not that it was so. */
const RESERVING = withStems(
  'may might could would should possible possibly perhaps maybe probable probably likely unlikely alleged allege allegedly reported report reportedly claim claimed say said tell told according believe believed suspect suspected plan planned expect expected propose proposed intend intended hope aim seem appear suppose supposed supposedly purportedly ostensibly theoretically rumour rumor rumoured apparently potential potentially think thought argue argued suggest suggested assume assumed predict predicted forecast warn fear insist maintain complain doubt wonder promise threaten attempt try if unless whether until provided assuming myth hoax',
)

function withStems(words: string): ReadonlySet<string> {
  return new Set(words.split(' ').flatMap((word) => [word, stem(word)]))
}

/** A month, a name or a thing is none of them: `on 3 May`, `Will Reed`, `the plan`. */
export function isQualifier({ key, stem: base, kind, raw, article }: PassageWord): boolean {
  if (kind === 'name' && /^(?:may|will|hope)$/.test(raw)) return false
  if (article && NOUNS.has(key)) return false
  return TURNING.has(key) || TURNING.has(base) || isSign(key)
}

/** Whether it only reserves what is said. */
export function isReserving(word: PassageWord): boolean {
  return isQualifier(word) && (RESERVING.has(word.key) || RESERVING.has(word.stem))
}

/** What holds of all of its clause or not at all; `about 840` and `than` only of the amount behind them. */
export function isClauseQualifier(word: PassageWord): boolean {
  return isQualifier(word) && !NEARLY.has(word.key) && word.key !== 'than'
}

const NOUNS: ReadonlySet<string> = new Set(
  'plan report claim hope aim estimate attempt subject suspect promise will'.split(' '),
)

/** Of a whole sentence, in whatever clause they stand. */
export const OF_THE_WHOLE = withStems(
  'if unless except only provided assuming whether say said claim report tell according alleged allegedly reportedly deny denied false untrue wrong believe suspect rumour apparently supposedly purportedly when whenever pending otherwise',
)

/** What makes the most of a few, or the first of many: it holds of all that stands with it only. */
export function isSuperlative({ key, kind, article }: PassageWord): boolean {
  if (kind !== 'word') return false
  return (
    (key.length > 5 && key.endsWith('est') && !NO_SUPERLATIVE.has(key)) ||
    (article && (key === '#1th' || key === 'last'))
  )
}

const NO_SUPERLATIVE: ReadonlySet<string> = new Set(
  'forest request interest harvest protest contest honest arrest suggest invest conquest earnest tempest'.split(' '),
)

/** Of the amount behind them. */
export const NEARLY: ReadonlySet<string> = new Set('about nearly almost around approximately roughly'.split(' '))
