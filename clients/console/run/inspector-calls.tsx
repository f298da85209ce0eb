import { ValueView } from '../parts/value-view.tsx'
import type { BlockAttempt } from './inspector-block.ts'

type BlockCall = BlockAttempt['calls'][number]

/** What providers were asked in an attempt, word for word, and what came back. */
export function AttemptCalls({ detail: { calls, calls_cut } }: { readonly detail: BlockAttempt }) {
  return (
    <>
      {calls.map((call, index) => (
        // Calls are recorded in order and never change.
        <Call key={index} call={call} name={nameOf(call, index, calls)} />
      ))}
      {calls_cut && (
        <p class="small soft">Some calls are left out: there were too many, or what was recorded is gone.</p>
      )}
    </>
  )
}

/** The first call of the block itself is its prompt; another one repaired an answer that broke the contract. */
function nameOf({ gate }: BlockCall, index: number, calls: readonly BlockCall[]): string {
  if (gate !== undefined) return `judge of gate ${gate}`
  const before = calls.slice(0, index).filter((one) => one.gate === undefined).length
  return before === 0 ? '' : `repair ${before}`
}

function Call({ call, name }: { readonly call: BlockCall; readonly name: string }) {
  const { system, prompt, answer, cut, note } = call
  const of = name === '' ? '' : ` (${name})`
  return (
    <>
      {system !== undefined && (
        <>
          <h4>System prompt{of}</h4>
          <ValueView value={system} label={`system prompt${of}`} />
        </>
      )}
      <h4>Prompt{of}</h4>
      {prompt === undefined ? (
        <p class="small soft">Recorded before prompts were kept; its hash is {call.prompt_hash.slice(0, 12)}.</p>
      ) : (
        <ValueView value={prompt} label={`prompt${of}`} />
      )}
      <h4>Answer{of}, as it came</h4>
      <ValueView value={answer} label={`answer${of}`} />
      {cut === true && <p class="small soft">A text above is only its beginning.</p>}
      {note !== undefined && <p class="small soft">{note}</p>}
    </>
  )
}
