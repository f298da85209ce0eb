/**
 * The stem of an English word in small letters: M.F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980,
 * as SQLite's porter tokenizer has it. What is no vowel a e i o u is a consonant, also digits and
 * other letters; words under 3 and over 64 bytes stay.
 */
export function stem(word: string): string {
  const bytes = Buffer.byteLength(word)
  if (bytes < 3 || bytes > 64) return word
  let stemmed = plural(word)
  stemmed = pastOrGerund(stemmed)
  stemmed = stemmed.endsWith('y') && VOWEL.test(vowelled(stemmed.slice(0, -1))) ? `${stemmed.slice(0, -1)}i` : stemmed
  stemmed = suffix(stemmed, DOUBLE, 1)
  stemmed = suffix(stemmed, SINGLE, 1)
  stemmed = residual(stemmed)
  return finalE(stemmed)
}

function plural(word: string): string {
  if (word.endsWith('sses') || word.endsWith('ies')) return word.slice(0, -2)
  return word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word
}

function pastOrGerund(word: string): string {
  if (word.endsWith('eed')) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word
  const ending = word.endsWith('ed') ? 2 : word.endsWith('ing') ? 3 : 0
  const base = word.slice(0, word.length - ending)
  if (ending === 0 || !VOWEL.test(vowelled(base))) return word
  if (/(at|bl|iz)$/.test(base)) return `${base}e`
  if (/([^aeiouylsz])\1$/.test(base)) return base.slice(0, -1)
  return measure(base) === 1 && endsShort(base) ? `${base}e` : base
}

type Rules = readonly (readonly [ending: string, replaced: string])[]

/** The first ending that fits decides, whether or not enough is left before it. */
function suffix(word: string, rules: Rules, least: number): string {
  const rule = rules.find(([ending]) => word.endsWith(ending))
  if (rule === undefined) return word
  const base = word.slice(0, -rule[0].length)
  return measure(base) >= least ? base + rule[1] : word
}

const pairs = (text: string): Rules => text.split(' ').map((pair) => pair.split('>') as [string, string])

const DOUBLE = pairs(
  'ational>ate tional>tion enci>ence anci>ance izer>ize logi>log bli>ble alli>al entli>ent eli>e ousli>ous ization>ize ation>ate ator>ate alism>al iveness>ive fulness>ful ousness>ous aliti>al iviti>ive biliti>ble',
)
const SINGLE = pairs('icate>ic ative> alize>al iciti>ic ical>ic ful> ness>')
const RESIDUAL = pairs('al> ance> ence> er> ic> able> ible> ant> ement> ment> ent> ou> ism> ate> iti> ous> ive> ize>')

function residual(word: string): string {
  const base = word.slice(0, -3)
  if (word.endsWith('ion')) return /[st]$/.test(base) && measure(base) > 1 ? base : word
  return suffix(word, RESIDUAL, 2)
}

function finalE(word: string): string {
  if (word.endsWith('ll')) return measure(word) > 1 ? word.slice(0, -1) : word
  if (!word.endsWith('e')) return word
  const base = word.slice(0, -1)
  const kept = measure(base) === 1 && endsShort(base)
  return measure(base) > 1 || (measure(base) === 1 && !kept) ? base : word
}

const VOWEL = /v/

/** Each byte as `v` (vowel; y after a consonant) or `c`: SQLite goes by bytes. */
function vowelled(word: string): string {
  let kinds = ''
  for (const letter of word) {
    const vowel = 'aeiou'.includes(letter) || (letter === 'y' && kinds.endsWith('c'))
    kinds += vowel ? 'v' : 'c'.repeat(letter <= '\x7f' ? 1 : Buffer.byteLength(letter))
  }
  return kinds
}

/** How often vowels are followed by consonants: m in the paper. */
function measure(word: string): number {
  return vowelled(word).match(/v+c+/g)?.length ?? 0
}

/** consonant, vowel, consonant that is not w, x or y. */
function endsShort(word: string): boolean {
  return vowelled(word).endsWith('cvc') && !/[wxy]$/.test(word)
}
