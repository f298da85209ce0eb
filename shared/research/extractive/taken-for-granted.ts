import type { WhyRefused } from '../claims/claim-lines.ts'
import { contentTerms, plainWords } from '../question/terms.ts'
import { doerOfVerb, saysOfVerb } from './asked-verb.ts'
import type { EvidenceUnit } from './evidence-units.ts'

/** What a question says besides the words it looks for, and what was found must not contradict. */
interface Granted {
  readonly topic: string
  readonly isYesNo: boolean
  /** Terms of what is asked. */
  readonly relation: readonly string[]
  /** Terms of names the question has. */
  readonly named: readonly string[]
}

/** Why units that have the words of a question say something else than it takes for granted; undefined: they do not. */
export function whyOtherwise(granted: Granted, units: readonly EvidenceUnit[]): WhyRefused | undefined {
  const { topic, isYesNo } = granted
  if (isOfAll(topic, units) || isBeyondNumber(topic, units)) return 'whole_set'
  if (isByTitleAlone(granted, units)) return 'not_said'
  if (isOfNthTime(topic, units)) return 'other_time'
  if (isWithoutVerb(topic, units)) return 'other_kind'
  if (units.some((unit) => unit.kind === 'sentence' && isOfOtherTime(topic, unit.text))) return 'other_time'
  if (units.some((unit) => unit.kind === 'sentence' && isByWhatItIsDoneTo(topic, unit.text))) return 'other_way'
  return !isYesNo && units.some((unit) => unit.kind === 'sentence' && isByAnother(topic, unit.text))
    ? 'other_doer'
    : undefined
}

const OF_ALL = /^(?:is|are|was|were|do|does|did|has|have|had|can|could|will) (all|every|each|most|both)\b/i

/** `Are all ferries blue?` is not answered by two that are. */
function isOfAll(topic: string, units: readonly EvidenceUnit[]): boolean {
  const [, word] = OF_ALL.exec(topic.trim()) ?? []
  return word !== undefined && !units.some(({ text }) => plainWords(text).includes(word.toLowerCase()))
}

const BEYOND = /\b(?:more|less|fewer|\p{L}{2,}er) than (\d[\d.,]*)/giu

/** `more than 30`: a 30 that stands anywhere says nothing of it. */
function isBeyondNumber(topic: string, units: readonly EvidenceUnit[]): boolean {
  return [...topic.matchAll(BEYOND)].some(([, bound = '']) => {
    const said = `than ${plainWords(bound).join(' ')} `
    return !units.some(({ text }) => `${plainWords(text).join(' ')} `.includes(said))
  })
}

/** `Did the Wren sink?` is not answered by any sentence below `The sinking of the Wren`. */
function isByTitleAlone({ relation, named }: Granted, units: readonly EvidenceUnit[]): boolean {
  const asked = relation.filter((term) => !named.includes(term))
  if (asked.length === 0 || units.length === 0 || units.some(({ kind }) => kind === 'fact')) return false
  return !units.some(({ said }) => asked.some((term) => said.has(term)))
}

const HELPER = /\b(?:is|are|was|were|does|do|did|has|have|had|will|would|can|could)\b/i
/** `What heats the hall?` */
const NOW = /^(?:who|what|which \p{L}+) \p{Ll}+s\b/iu
/** A past that is over: `was heated by coal until 1962`. */
const ENDED = /\b(?:was|were|had|\p{L}+ed)\b[^,;.]{0,100}\buntil\b[^,;.]{0,30}\d/iu

/** What was so until a year is not how it is; what closes each evening is not when it was closed. */
function isOfOtherTime(topic: string, text: string): boolean {
  const helper = HELPER.exec(topic)?.[0].toLowerCase() ?? (NOW.test(topic) ? 'does' : '')
  if (/^(?:is|are|does|do)$/.test(helper)) return ENDED.test(text) && !/\buntil\b/i.test(topic)
  if (!/^(?:was|were|did)$/.test(helper)) return false
  const last = plainWords(topic).at(-1) ?? ''
  const isVerb = helper === 'did' ? !last.endsWith('s') : last.endsWith('ed')
  const [term] = contentTerms(last)
  if (!isVerb || term === undefined) return false
  const forms = plainWords(text).filter((word) => contentTerms(word)[0] === term)
  return forms.length > 0 && forms.every((word) => /s$/.test(word))
}

/** `When did it last bloom?` is not answered by the first time. */
function isOfNthTime(topic: string, units: readonly EvidenceUnit[]): boolean {
  const [, nth] = /\b(?:did|was|were|has|have)\b.{1,100} (first|last) \p{Ll}+\s*\??$/iu.exec(topic) ?? []
  return nth !== undefined && !units.some(({ text }) => plainWords(text).includes(nth.toLowerCase()))
}

/** Verbs that are no terms, for they stand in every question: `What does the pump use?` */
const PLAIN_VERBS: Readonly<Record<string, RegExp>> = {
  do: /^$/,
  use: /^us(?:e|es|ed|ing)$/,
  show: /^show(?:s|ed|n|ing)?$/,
  give: /^(?:give|gives|gave|given|giving)$/,
  find: /^(?:find|finds|found|finding)$/,
  speak: /^(?:speak|speaks|spoke|spoken|speaking)$/,
}

function isWithoutVerb(topic: string, units: readonly EvidenceUnit[]): boolean {
  const last = plainWords(topic).at(-1) ?? ''
  const forms = Object.hasOwn(PLAIN_VERBS, last) ? PLAIN_VERBS[last] : undefined
  if (forms === undefined || !/\b(?:does|do|did)\b/i.test(topic)) return false
  // A predicate is named by its noun: `What currency do they use?`
  if (last !== 'do' && units.some(({ kind }) => kind === 'fact')) return false
  return !units.some(({ text }) => plainWords(text).some((word) => forms.test(word)))
}

const WAS_DONE = /\b(?:is|are|was|were) (?:the |an? )?(.{1,80}?) (\p{Ll}+)\s*\??$/iu

/** `When was the pump replaced?` is not answered by what was replaced by a pump. */
function isByWhatItIsDoneTo(topic: string, text: string): boolean {
  const [, name = '', done = ''] = WAS_DONE.exec(topic) ?? []
  const [verb] = /(?:ed|en|[wl]n|ld|lt|ught|ung)$/.test(done) ? contentTerms(done) : []
  const named = contentTerms(name)
  return verb !== undefined && named.length > 0 && saysOfVerb({ verb, named, asks: 'doer' }, text) === 'turned'
}

const DID = /\bdid (?:the )?(\p{Lu}[\p{L}\p{M}'’-]*(?: \p{Lu}[\p{L}\p{M}'’-]*)*) (\p{Ll}+)/u

/** `When did Ann Marsh draw it?` is not answered by when it was drawn by Greta Marsh. */
function isByAnother(topic: string, text: string): boolean {
  const [, name = '', done = ''] = DID.exec(topic) ?? []
  const [verb] = contentTerms(done)
  if (verb === undefined) return false
  const doer = doerOfVerb(verb, text)
  // Who is named by no name may be the same.
  if (doer === undefined || !doer.isNamed) return false
  const own = contentTerms(name)
  const said = contentTerms(doer.words.join(' '))
  const isShort = said.every((term) => own.includes(term))
  return said.length > 0 && !isShort && !said.includes(own[0] ?? '')
}
