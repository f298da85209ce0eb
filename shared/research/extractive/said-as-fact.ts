import { isReserving, NEGATING, OF_THE_WHOLE, type PassageWord, passageWords } from '../claims/passage-words.ts'
import { contentTerms } from '../question/terms.ts'

/** Words that say that something is not so. */
export const DENYING: ReadonlySet<string> = new Set(
  'not no never none nobody nothing nowhere neither nor without cannot lack lacks lacking'.split(' '),
)

/** How a question is asked, as far as it counts here. */
interface Asked {
  readonly topic: string
  readonly isYesNo: boolean
  /** Term of what was done, where the question says who did it to whom. */
  readonly verb: string | undefined
}

/**
 * A sentence that says it only as planned, possible, conditional, denied or told by somebody, in words the question does not
 * have: `Holt might replace Singh` says neither who replaced her nor who will. A plain denial answers yes or no.
 */
export function isReserved(text: string, { topic, isYesNo, verb }: Asked): boolean {
  const asked = new Set(passageWords(topic).map(({ stem }) => stem))
  const words = passageWords(text)
  const clause = words.find(({ raw }) => verb !== undefined && contentTerms(raw).includes(verb))?.clause
  const isHere = (word: PassageWord) => clause === undefined || word.clause === clause
  const isOfPast = /\b(?:did|was|were|has|had)\b/i.test(topic)
  const [, told = ''] = TOLD_TO.exec(text) ?? []
  if (told !== '' && !asked.has(passageWords(told)[0]?.stem ?? '')) return true
  return words.some((word, at) => {
    const isAsked = asked.has(word.stem) || (isYesNo && isPlainDenial(word))
    if (isAsked) return false
    if (NEGATING.has(word.stem) && !DENYING.has(word.key)) return isHere(word)
    if (word.key === 'will') return isOfPast && word.kind !== 'name'
    return reserves(word, words[at + 1]) && (isHere(word) || OF_THE_WHOLE.has(word.stem))
  })
}

/** `until 1990` is a time. */
function reserves(word: PassageWord, next: PassageWord | undefined): boolean {
  return isReserving(word) && !(word.key === 'until' && next?.kind === 'number')
}

/** `It did not close` answers whether it closed. */
function isPlainDenial({ key, stem }: PassageWord): boolean {
  return DENYING.has(key) || stem === 'fail' || /^(?:untrue|false)$/.test(key)
}

/** `The council asked Farrow to resign`: whether he did is not said. */
const TOLD_TO =
  /\b(asked|ordered|urged|wanted|agreed|decided|offered|invited|advised|wished|begged|demanded|requested|applied)\b(?: \S+){0,4}? to \p{Ll}/u

/** `The branch failed to win` says of no prize that it was won. */
export function saysFailed(text: string): boolean {
  return passageWords(text).some(({ stem }) => stem === 'fail')
}
