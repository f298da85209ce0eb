import './step-work.css'
import { bytesWords } from '../../parts/format.ts'
import type { BlockAttempt, Inspected } from './inspected-block.tsx'

/** While a step works: how far it last said it is, and what it does. */
export function StepProgress({ inspected: { state, fold } }: { readonly inspected: Inspected }) {
  const { fraction, note = '' } = fold?.progress ?? {}
  if (state !== 'running' || fraction === undefined) return null
  const percent = `${Math.round(fraction * 100)} %`
  return (
    <div class="step-progress" role="status">
      <progress value={fraction} max={1} aria-label="Progress of the step">
        {percent}
      </progress>
      <span class="numbers">{percent}</span>
      {note !== '' && <span class="soft">{note}</span>}
    </div>
  )
}

/** The end of what the step of an attempt wrote; the link opens all of it. */
export function StepLog({ log }: { readonly log: BlockAttempt['log'] }) {
  if (log === undefined) return null
  const { ref, lines, bytes, tail, cut } = log
  const whole = `${lines} ${lines === 1 ? 'line' : 'lines'}, ${bytesWords(bytes)}`
  return (
    <>
      <h4>Log</h4>
      {lines > tail.length && <p class="small soft">The last {tail.length} lines:</p>}
      <pre class="step-log">{tail.join('\n')}</pre>
      <p class="small">
        <a href={`/api/objects/${ref.slice(ref.lastIndexOf('/') + 1)}`} target="_blank" rel="noreferrer" title={ref}>
          Whole log
        </a>{' '}
        <span class="soft">
          {whole}
          {cut === true && ', longer than is kept: its middle is missing'}
        </span>
      </p>
    </>
  )
}
