import { type Marker, metricValue, normaliseDashes } from './marker.ts'

/**
 * Markers as they are compared with what a block was given: by type, subtype and what they say. Numbers go by their value
 * (0.950 is 0.95), of a METRIC nothing else counts; of other contents the words, numbers and signs, whatever blanks, marks
 * and case stand between them, and one that breaks off earlier says the same. Attributes are not compared.
 */
export interface MarkerSet {
  add(marker: Said): void
  has(marker: Said): boolean
}

type Said = Pick<Marker, 'type' | 'subtype' | 'content'>

/** A set of markers that grows, in which others are looked up. */
export function newMarkerSet(): MarkerSet {
  const numbers = new Set<string>()
  const words = new Map<string, SortedWords>()
  return {
    add(marker) {
      const key = markerKey(marker)
      for (const number of numbersAt(marker)) numbers.add(`${key} ${number}`)
      const known = words.get(key) ?? sortedWords()
      known.add(wordsOf(marker.content))
      words.set(key, known)
    },
    has(marker) {
      const key = markerKey(marker)
      const value = marker.type === 'METRIC' ? metricValue(cleanText(marker.content)) : undefined
      if (value?.ok === true) return numbers.has(`${key} ${value.value}`)
      return words.get(key)?.has(wordsOf(marker.content)) ?? false
    },
  }
}

/**
 * Every marker that stands anywhere in a text: within a sentence, behind `>`, in fences, tables, emphasis and JSON, with
 * its content on the next line too. Whoever takes it out of there has read it and not measured it.
 */
export function findMarkersAnywhere(text: string): readonly Said[] {
  if (!/[[［]/.test(text)) return []
  const plain = cleanText(text.replace(/\\[nrt]/g, '\n').replaceAll('\\', ''))
  const found = [...plain.matchAll(ANYWHERE)].slice(0, MOST_GIVEN)
  return found.map((match, index) => {
    const start = match.index + match[0].length
    const end = Math.min(found[index + 1]?.index ?? plain.length, start + MOST_CONTENT)
    const [line = '', next = ''] = plain.slice(start, end).split('\n', 2)
    const { type = '', attributes = '' } = match.groups ?? {}
    return { type: normaliseDashes(type), ...subtypeOf(type, attributes), content: HAS_WORD.test(line) ? line : next }
  })
}

/** Markers of one text that are compared; more than a text may say itself. */
const MOST_GIVEN = 50_000

const MOST_CONTENT = 4_000

const ANYWHERE = /\[(?<type>[A-Z][A-Z0-9_-]{0,99})(?::(?<attributes>[^\]\n]{1,1000}))?\]/g

const HAS_WORD = /[\p{L}\p{N}]/u

function subtypeOf(type: string, attributes: string): Pick<Marker, 'subtype'> | object {
  const subtype = type === 'CITATION' ? attributes : attributes.split(':').find((part) => !part.includes('='))
  return subtype === undefined || subtype === '' ? {} : { subtype: normaliseDashes(subtype) }
}

function markerKey({ type, subtype = '' }: Pick<Marker, 'type' | 'subtype'>): string {
  return `${type}:${normaliseDashes(cleanText(subtype)).trim()}`
}

/** Compatibility letters made one, and what nobody sees taken out. */
function cleanText(text: string): string {
  return text.normalize('NFKC').replace(/\p{Default_Ignorable_Code_Point}/gu, '')
}

/**
 * What a metric's content can be read as by whoever takes it over: the number it begins with, or any of its numbers where
 * it begins with none; with a comma as a point or as nothing, and as a share of 100.
 */
function numbersAt({ content }: Pick<Marker, 'content'>): readonly number[] {
  const text = cleanText(content)
  const numbers = [...text.matchAll(NUMBERS)]
  return (metricValue(text).ok ? numbers.slice(0, 1) : numbers).flatMap(([, number = '', percent]) => {
    const readings = [number, number.replaceAll(',', ''), number.replace(',', '.')].map(Number).filter(Number.isFinite)
    return percent === undefined ? readings : [...readings, ...readings.map((value) => Number(`${value}e-2`))]
  })
}

const NUMBERS = /([+-]?(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?)(\s*(?:%|percent))?/gi

/** Words, numbers by their value, and the signs that change what is said, in small letters, one blank between them. */
function wordsOf(content: string): string {
  const found = cleanText(content).slice(0, MOST_CONTENT).toLowerCase().match(WORDS) ?? []
  return found.map((word) => (/^[+-]?\.?\d/.test(word) ? String(Number(word)) : word)).join(' ')
}

const WORDS =
  /(?<![\p{L}\p{N}])[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?(?![\p{L}\p{N}])|[\p{L}\p{N}_][\p{L}\p{N}\p{M}_]*|[<>=≤≥≠≈±%‰]|\p{Sc}|\p{So}/gu

interface SortedWords {
  add(text: string): void
  has(text: string): boolean
}

/** Texts of words by their beginnings: sorted when one is looked up, so that each look-up takes few steps. */
function sortedWords(): SortedWords {
  const texts: string[] = []
  let sorted = true
  return {
    add(text) {
      texts.push(text)
      sorted = false
    },
    has(text) {
      if (!sorted) texts.sort((a, b) => (a < b ? -1 : 1))
      sorted = true
      const at = lowerBound(texts, text)
      // A blank comes before every letter and sign: what goes on with another word stands right there.
      return text === '' ? texts.length > 0 : texts[at] === text || (texts[at]?.startsWith(`${text} `) ?? false)
    },
  }
}

/** The place of the first that is not before it. */
function lowerBound(texts: readonly string[], text: string): number {
  let [low, high] = [0, texts.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((texts[middle] ?? '') < text) low = middle + 1
    else high = middle
  }
  return low
}
