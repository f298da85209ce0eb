import { bytesWords } from '../parts/amount-words.ts'
import { RunChangesNotice } from '../parts/run-changes.tsx'
import { ValueView } from '../parts/value-view.tsx'
import type { Approval } from './decision.ts'

interface DecidedOnProps {
  readonly approval: Approval
  /** What is other than the reader saw; not empty = it is asked again. */
  readonly changes: readonly string[]
}

/** Names what a decision is about, once more: question, values, digest. */
export function DecidedOn({ approval, changes }: DecidedOnProps) {
  const { prompt, shown_refs, digest, gates = [] } = approval
  return (
    <>
      {changes.length > 0 && <ChangedSince approval={approval} changes={changes} />}
      <RunChangesNotice changes={approval.changes} />
      <dl class="facts">
        <dt>Question</dt>
        <dd>{prompt || 'May it begin?'}</dd>
        {gates.length > 0 && (
          <>
            <dt>Failed gates</dt>
            <dd>{gates.map(({ name }) => name).join(', ')}</dd>
          </>
        )}
        <dt>Shown</dt>
        <dd>
          {Object.entries(shown_refs)
            .map(([name, { bytes }]) => `${name} (${bytesWords(bytes)})`)
            .join(', ') || 'no values'}
        </dd>
        <dt>Digest</dt>
        <dd>
          <code class="hash">{digest}</code>
        </dd>
      </dl>
    </>
  )
}

function ChangedSince({ approval, changes }: DecidedOnProps) {
  return (
    <div class="notice tone-warn stack" role="alert">
      <p>
        <strong>Nothing was decided: {changes.join(', ')} changed since you looked.</strong> Below is what is asked now;
        decide again if you still mean it.
      </p>
      {changes
        .filter((name) => Object.hasOwn(approval.shown, name))
        .map((name) => (
          <div key={name}>
            <strong>{name}</strong>
            <ValueView value={approval.shown[name]} label={`changed value ${name}`} />
          </div>
        ))}
    </div>
  )
}
