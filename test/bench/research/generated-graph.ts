import type { Entity } from '../../../shared/graph/entity.ts'
import type { Triple } from '../../../shared/graph/triple.ts'

const TIMESTAMP = '2026-11-22T08:00:00.000Z'
/** Of each entity; half of them lead to another one, some entities being led to far more often. */
export const TRIPLES = 10
const VOCABULARY = 20_000

/** Words and entities from a fixed seed; words have the skew of a language, a few of them in most texts. */
export function generatedGraph(count: number) {
  let state = 1
  const draw = () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 1
    return state / 2 ** 31
  }
  const words = Array.from({ length: VOCABULARY }, (_, at) => wordOf(at + 7))
  const text = (length: number) => Array.from({ length }, () => words[Math.floor(VOCABULARY * draw() ** 3)]).join(' ')
  const idOf = (at: number) => `bench.test.d${at % 7}.generated.type${at % 23}.e${at}`
  const edgeOrFact = (subject: string, k: number): Triple => ({
    subject,
    predicate: k % 2 === 0 ? `bench.leads_${words[k]}` : `bench.says_${words[k]}`,
    object: k % 2 === 0 ? idOf(Math.floor(count * draw() ** 2)) : text(2),
    source: 'bench',
    timestamp: TIMESTAMP,
    confidence: 1,
    rule_opaque: false,
  })
  return {
    text,
    idOf,
    /** What its edges are called, as a question says it. */
    relations: [0, 2, 4, 6, 8].map((k) => `leads ${words[k]}`),
    *entities(): Generator<Entity> {
      for (let at = 0; at < count; at += 1) {
        const entity_id = idOf(at)
        const triples = Array.from({ length: TRIPLES }, (_, k) => edgeOrFact(entity_id, k))
        yield { entity_id, label: text(3), snippet: text(40), triples }
      }
    },
  }
}

/** Consonants and vowels by turns: a number in letters. */
function wordOf(number: number): string {
  let word = ''
  for (let left = number; left > 0; left = Math.floor(left / 14)) {
    word += `${'bcdfghklmnprst'[left % 14]}${'aeiou'[(left >> 2) % 5]}`
  }
  return word
}
