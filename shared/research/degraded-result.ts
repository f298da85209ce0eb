import type { Evidence } from './evidence.ts'
import type { DecompTrace, SearchResult } from './search-result.ts'

interface Ending {
  readonly topic: string
  /** Why there is no better answer, as the middle of a sentence. */
  readonly reason: string
  readonly evidence: readonly Evidence[]
  readonly trace: DecompTrace
  readonly tokens_used: number
  readonly iterations: number
}

/** Items a degraded answer shows in words; all of them stay in `evidence`. */
const SHOWN = 8

/**
 * The terminal result where no synthesis was made: a cap, a failing stage, a spent budget, a timeout. It says what
 * happened and keeps the evidence. Without evidence it is an honest no answer, never a report.
 */
export function degradedResult({ topic, reason, evidence, trace, tokens_used, iterations }: Ending): SearchResult {
  const head = evidence.length === 0 ? noAnswer(topic) : 'No answer was composed.'
  const lines = evidence.length === 0 ? [] : ['What was found:', ...echoEvidence(evidence)]
  return {
    evidence: [...evidence],
    synthesis: [head, `Degraded: ${reason}.`, ...lines].join('\n'),
    decomp_trace: trace,
    tokens_used,
    iterations,
  }
}

/** What is said where the graph has nothing. */
export function noAnswer(topic: string): string {
  return `No answer found in the graph for: ${topic.replace(/\s+/g, ' ').trim()}`
}

/** The first items as lines with their citations. */
export function echoEvidence(evidence: readonly Pick<Evidence, 'entity_id' | 'snippet_text'>[]): readonly string[] {
  return evidence.slice(0, SHOWN).map(({ entity_id, snippet_text }, at) => {
    const text = (snippet_text ?? '').replace(/\s+/g, ' ').trim()
    return `- ${text === '' ? entity_id : text} [${at + 1}]`
  })
}
