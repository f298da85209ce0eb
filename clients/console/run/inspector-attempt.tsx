import type { StepFold } from '../../../shared/runs/run-fold.ts'
import { tokensWords, usdWords } from '../parts/amount-words.ts'
import { Elapsed } from '../parts/moment.tsx'
import { ObjectLink } from '../parts/object-link.tsx'
import { StateMark } from '../parts/state-mark.tsx'
import { durationWords, timeWords } from '../parts/time-words.ts'
import { ValueView } from '../parts/value-view.tsx'
import type { BlockAttempt } from './inspector-block.ts'
import { AttemptCalls } from './inspector-calls.tsx'
import { GateList } from './inspector-gates.tsx'

interface AttemptProps {
  readonly step: StepFold
  /** Absent until the server has told it. */
  readonly detail: BlockAttempt | undefined
  readonly isNewest: boolean
}

/** One attempt: a line, and all of it when opened. */
export function InspectorAttempt({ step, detail, isNewest }: AttemptProps) {
  const { epoch, attempt, state, started_at, ended_at } = step
  return (
    <details class="attempt" open={isNewest}>
      <summary>
        <span class="row">
          <strong>
            Try {attempt}
            {epoch > 0 && ` after ${epoch} ${epoch === 1 ? 'return' : 'returns'}`}
          </strong>
          <StateMark state={state} isQuiet />
          <span class="small soft numbers">
            <time dateTime={started_at} title={started_at}>
              {timeWords(started_at)}
            </time>
            , <Elapsed from={started_at} to={ended_at} />
          </span>
        </span>
      </summary>
      {detail !== undefined && <AttemptDetail detail={detail} isNewest={isNewest} />}
    </details>
  )
}

function AttemptDetail({ detail, isNewest }: { readonly detail: BlockAttempt; readonly isNewest: boolean }) {
  const { error, gates, note } = detail
  return (
    <div class="stack attempt-body">
      {/* That of the newest stands above, as why the block failed. */}
      {error !== undefined && (!isNewest || detail.item !== undefined) && (
        <div class="notice tone-bad">
          <p>{error.reason}</p>
          <p class="small">
            Code <code>{error.code}</code>
          </p>
        </div>
      )}
      <AttemptFacts detail={detail} />
      {note !== undefined && <p class="soft">{note}</p>}
      <AttemptInputs detail={detail} />
      <AttemptCalls detail={detail} />
      {/* Those of the newest stand above, beside the ones that have not judged yet. */}
      {!isNewest && gates.length > 0 && (
        <>
          <h4>Gates</h4>
          <GateList gates={gates} />
        </>
      )}
    </div>
  )
}

function AttemptFacts({ detail }: { readonly detail: BlockAttempt }) {
  const { provider, model, tokens_in, tokens_out, usd, unpriced_tokens, latency_ms, finish_reason } = detail
  if (provider === undefined) return null
  return (
    <dl class="facts numbers">
      <dt>Answered by</dt>
      <dd>
        {provider} {model}
      </dd>
      {latency_ms !== undefined && (
        <>
          <dt>Latency</dt>
          <dd>{durationWords(latency_ms)}</dd>
        </>
      )}
      <dt>Tokens</dt>
      <dd>
        {tokensWords(tokens_in, tokens_out)}, {usdWords(usd, unpriced_tokens)}
      </dd>
      {finish_reason !== undefined && (
        <>
          <dt>Finished</dt>
          <dd>{finish_reason}</dd>
        </>
      )}
    </dl>
  )
}

function AttemptInputs({ detail }: { readonly detail: BlockAttempt }) {
  const { inputs = {}, input_refs = {}, inputs_verified } = detail
  const ports = Object.entries(inputs)
  const large = Object.entries(input_refs)
  if (ports.length + large.length === 0) return null
  return (
    <>
      <h4>Inputs</h4>
      {!inputs_verified && (
        <p class="small soft">Not what was recorded at its start: these are the values it would be given now.</p>
      )}
      <div class="ports">
        {ports.map(([port, value]) => (
          <div key={port}>
            <code>{port}</code>
            <ValueView value={value} label={`input ${port}`} />
          </div>
        ))}
        {large.map(([port, { ref, sha256 = '', bytes }]) => (
          <div key={port} class="row">
            <code>{port}</code>
            {ref === undefined ? (
              <span class="small soft">too large to be shown, sha256 {sha256.slice(0, 12)}</span>
            ) : (
              <ObjectLink object={{ ref, sha256, ...(bytes === undefined ? {} : { bytes }) }} />
            )}
          </div>
        ))}
      </div>
    </>
  )
}
