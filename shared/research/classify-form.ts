import { isStopWord } from '../graph/search-words.ts'
import type { Classification } from './classify-keywords.ts'
import { plainWords } from './question-terms.ts'

/** Questions as people put them, by what they are after; only their words of grammar count, the others stand for any. */
const FORMS: readonly (readonly [intent: string, question: string])[] = [
  ['attribute', 'what is the capital of Peru'],
  ['attribute', 'which currency does Peru have'],
  ['attribute', 'where is the head office of Acme'],
  ['attribute', 'when was the bridge of Lima built'],
  ['definition', 'what is a pump'],
  ['definition', 'who was Bolivar'],
  ['definition', 'tell me about Peru'],
  ['list', 'which are the neighbours of Peru'],
  ['list', 'what are all the sensors in Lima'],
  ['described', 'which country has a capital that is on the coast'],
  ['described', 'which is the country whose capital is Lima'],
  ['cause', 'why did the pump in Lima fail'],
  ['procedure', 'how do I reset a pump'],
]

/** Under this part of words of grammar in common two questions are not of one form. */
const ALIKE = 0.6

/**
 * Tier 1: what a question is after by its form, the words of grammar it shares with known questions (Jaccard).
 * Confidence is that part. It writes no hints: a form names nothing to filter by. undefined: it is like none of them.
 */
export function classifyForm(topic: string): Classification | undefined {
  const asked = formOf(topic)
  let best: { readonly intent: string; readonly confidence: number } = { intent: '', confidence: 0 }
  for (const [intent, question] of FORMS) {
    const confidence = alike(asked, formOf(question))
    if (confidence > best.confidence) best = { intent, confidence }
  }
  return best.confidence < ALIKE ? undefined : { tier: '1', ...best, hints: {} }
}

/** Words of grammar, and of questions, each once. */
function formOf(text: string): ReadonlySet<string> {
  return new Set(plainWords(text.slice(0, MAX_CHARACTERS)).filter(isStopWord))
}

/** Of a topic: a question, not a document. */
const MAX_CHARACTERS = 1_000

function alike(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const common = [...a].filter((word) => b.has(word)).length
  return common === 0 ? 0 : Math.round((common / (a.size + b.size - common)) * 1_000) / 1_000
}
