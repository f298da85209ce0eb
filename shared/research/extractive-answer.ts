import { sentencesIn } from '../gates/sentences.ts'
import { EXTRACTIVE_NOTE, MORE_MAY_FIT } from './answer-notes.ts'
import { compareFacts } from './comparison.ts'
import { type Coverage, coverQuestion } from './cover-question.ts'
import { noAnswer } from './degraded-result.ts'
import { type EvidenceUnit, evidenceUnits } from './evidence-units.ts'
import { plainName } from './plain-name.ts'
import { wordsOfTerms } from './question-terms.ts'
import type { ShownEvidence } from './shown-evidence.ts'
import { thingsFound } from './things-found.ts'

/**
 * An answer of quoted sentences and facts, each with the number of its evidence. Where they do not say what is asked,
 * it is no answer and names the words nothing says.
 */
export function extractiveAnswer(topic: string, evidence: readonly ShownEvidence[]): string {
  const coverage = coverQuestion(topic, evidence)
  if (coverage.covered) {
    const compared = compareFacts(topic, evidence)
    const found = thingsFound(topic, evidence)
    const said = found.isAll ? [] : unitsToSay(coverage, evidence).map(line)
    const lines = compared === undefined ? said : [compared]
    const more = (coverage.things ?? 0) > 1 ? [MORE_MAY_FIT] : []
    return [...lines, ...listed(found.places, evidence), ...more, EXTRACTIVE_NOTE].join('\n')
  }
  const lacking = wordsOfTerms(topic, coverage.missing)
  const told = lacking.length === 0 ? [] : [`Note: no evidence linked to the question says: ${lacking.join(', ')}.`]
  return [noAnswer(topic), ...told, EXTRACTIVE_NOTE].join('\n')
}

/** A question that is a name alone asks what is known: more of the item it chose. */
function unitsToSay({ units, relation }: Coverage, evidence: readonly ShownEvidence[]): readonly EvidenceUnit[] {
  if (relation.length > 0) return units
  const of = new Set(units.map(({ n }) => n))
  const known = evidenceUnits(evidence).filter(({ n }) => of.has(n))
  return known.toSorted((a, b) => Number(a.kind === 'fact') - Number(b.kind === 'fact')).slice(0, KNOWN)
}

const KNOWN = 4

/** What a box or a time range found is itself an answer: its items by name. */
function listed(places: readonly number[], evidence: readonly ShownEvidence[]): readonly string[] {
  const found = places.flatMap((place) => {
    const item = evidence[place - 1]
    return item === undefined ? [] : [`${plainName(item.label ?? item.entity_id)} [${place}]`]
  })
  return found.length === 0 ? [] : [`${oneSentence(`Found there: ${found.slice(0, LISTED).join(', ')}`)}.`]
}

const LISTED = 20

/** A sentence stands in quotation marks, since it is one; marks of its own do not end it. */
function line({ kind, text, n }: EvidenceUnit): string {
  return kind === 'fact' ? `${oneSentence(text)} [${n}].` : `“${text.replace(/[“”]/g, '"')}” [${n}]`
}

/** A name may end a sentence in its middle; then the rest of the line would cite nothing: `Washington DC`, `St Peter Port`. */
function oneSentence(text: string): string {
  if (sentencesIn(`${text} X`).length < 2) return text
  return text.replace(/(?<=(?<![\p{L}\p{N}])\p{Lu}\p{Ll}?)\.(?!\p{N})/gu, '').replace(/[!?…。！？]|\.(?!\p{N})/gu, ';')
}
