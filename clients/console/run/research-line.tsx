import { type CheckedLine, isGrounded, type SentenceFinding } from '../../../shared/research/check-synthesis.ts'
import type { Evidence } from '../../../shared/research/evidence.ts'
import { hrefOf, route } from '../route.ts'
import { citedParts, faultWords } from './research-sentences.ts'

interface LineProps {
  readonly line: CheckedLine
  readonly evidence: readonly Evidence[]
}

/** One line of an answer: claims with their verdicts, or a note about the answer. */
export function ResearchLine({ line, evidence }: LineProps) {
  if (line.text.trim() === '') return null
  if (line.sentences.length === 0) {
    return (
      <p class="soft">
        <Cited text={line.text} evidence={evidence} />
      </p>
    )
  }
  return (
    <ul class="research-sentences">
      {line.sentences.map((one) => (
        <Sentence key={one.sentence} sentence={one} evidence={evidence} />
      ))}
    </ul>
  )
}

function Sentence({ sentence, evidence }: { readonly sentence: SentenceFinding } & Pick<LineProps, 'evidence'>) {
  const grounded = isGrounded(sentence)
  return (
    <li>
      <span class={`state tone-${grounded ? 'good' : 'bad'}`}>
        <span class="sign" aria-hidden="true">
          {grounded ? '✓' : '✕'}
        </span>
        {sentence.status}
      </span>{' '}
      <span class="research-sentence">
        <Cited text={sentence.sentence} evidence={evidence} />
        {sentence.status === 'supported' && sentence.passage !== undefined && (
          <span class="soft small">
            [{sentence.passage.place}] “{sentence.passage.text}”
          </span>
        )}
        {!grounded && <span class="research-faults small">{faultWords(sentence).join('; ')}</span>}
      </span>
    </li>
  )
}

/** A text whose citations lead to the evidence below it. */
function Cited({ text, evidence }: { readonly text: string; readonly evidence: readonly Evidence[] }) {
  const { parts, query } = route.value
  return (
    <>
      {citedParts(text, evidence).map((part, at) => {
        if (typeof part === 'string') return part
        if (part.place === undefined) return `[${part.ref}]`
        const { tier: _tier, source: _source, ...kept } = query
        return (
          <a
            key={`${at} ${part.ref}`}
            href={hrefOf(parts, { ...kept, evidence: String(part.place) })}
            title={evidence[part.place - 1]?.entity_id}
          >
            [{part.ref}]
          </a>
        )
      })}
    </>
  )
}
