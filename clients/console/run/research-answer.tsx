import { useMemo } from 'preact/hooks'
import { type CheckedLine, checkedLines, comparedWords } from '../../../shared/research/check-synthesis.ts'
import { ProblemNotice } from '../parts/notice.tsx'
import { StateMark } from '../parts/state-mark.tsx'
import { useAnswer } from '../use-answer.ts'
import { ResearchLine } from './research-line.tsx'
import { storedEvidence } from './research-stored.ts'
import type { ResearchAnswer } from './research-tab.tsx'

/** The question, and the answer sentence by sentence, each held against what is stored now. */
export function ResearchAnswerView({ answer }: { readonly answer: ResearchAnswer }) {
  const { intent, result, degraded, run_id, state, reason } = answer
  const { value: lines, problem } = useAnswer(`checked ${run_id}`, () => checkNow(answer))
  const unchecked = useMemo(
    () => (result?.synthesis ?? '').split('\n').map((text) => ({ text, sentences: [] })),
    [result],
  )
  return (
    <section class="card stack">
      <p class="soft small">Question</p>
      <h2 class="research-topic">{intent.topic}</h2>
      {result === undefined ? (
        <p class="notice tone-bad">
          There is no answer: the run {state}. {reason}
        </p>
      ) : (
        <>
          <p class="row">
            <span class="soft small">Answer</span>
            <StateMark state={state} isQuiet /> <span class="soft small">{reason}</span>
          </p>
          <div class="research-answer">
            {(lines ?? unchecked).map((line, place) => (
              <ResearchLine key={`${place} ${line.text}`} line={line} evidence={result.evidence ?? []} />
            ))}
          </div>
          <p class="small" role="status">
            {lines === undefined
              ? problem === undefined && 'Comparing every sentence with what is stored'
              : checkWords(lines)}
          </p>
          {problem !== undefined && <ProblemNotice problem={problem} />}
        </>
      )}
      {degraded.length > 0 && (
        <div class="notice tone-warn">
          <p>
            <strong>The answer is less than it could be</strong>
          </p>
          <ul>
            {degraded.map((why) => (
              <li key={why}>{why}</li>
            ))}
          </ul>
        </div>
      )}
    </section>
  )
}

/** Reads what is cited, nothing else: which items that are does not depend on what they say. */
async function checkNow({ intent, result, degraded }: ResearchAnswer): Promise<readonly CheckedLine[]> {
  if (result === undefined) return []
  const { evidence = [], synthesis } = result
  const said = { topic: intent.topic, synthesis, degraded }
  const lines = checkedLines(said, evidence)
  const places = new Set(lines.flatMap(({ sentences }) => sentences.flatMap((one) => one.places)))
  const stored = await Promise.all(
    evidence.map(async (item, at) => (places.has(at + 1) ? await storedEvidence(item) : item)),
  )
  return checkedLines(said, stored)
}

function checkWords(lines: readonly CheckedLine[]): string {
  const sentences = lines.flatMap((line) => line.sentences)
  if (sentences.length === 0) return 'The answer claims nothing, so there is nothing to check.'
  return `Compared here with what is stored: ${comparedWords(sentences)}. Words are compared; nobody says that they are true.`
}
