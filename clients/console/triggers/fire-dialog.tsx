import { useState } from 'preact/hooks'
import { answerOf, api } from '../api.ts'
import { Modal } from '../parts/modal.tsx'
import { ProblemNotice } from '../parts/notice.tsx'
import { useChange } from '../parts/use-answer.ts'
import { hrefOf } from '../route.ts'
import { readTyped, type Trigger } from './trigger-words.ts'

interface DialogProps {
  readonly trigger: Trigger
  readonly onClose: () => void
}

interface Tried {
  readonly ok: boolean
  readonly inputs: Readonly<Record<string, unknown>>
  readonly problems: readonly { readonly code: string; readonly message: string }[]
}

/** One run by hand: first what it would start with, where somebody asks. */
export function FireDialog({ trigger, onClose }: DialogProps) {
  const { document, name, kind } = trigger
  const [text, setText] = useState('')
  const [tried, setTried] = useState<Tried>()
  const [started, setStarted] = useState<string>()
  const { isBusy, problem, run } = useChange()
  const typed = readTyped(text)
  const wrong = 'problem' in typed ? typed.problem : undefined
  const params = { path: { document, trigger: name } }
  const sample = 'value' in typed ? { body: typed.value } : {}
  const attempt = async () => {
    const body = kind === 'schedule' ? {} : sample
    const answer = await run(() => answerOf(api.POST('/api/triggers/{document}/{trigger}/try', { params, body })))
    setTried(answer)
  }
  const fire = async (event: Event) => {
    event.preventDefault()
    const inputs = 'value' in typed ? { inputs: typed.value as Record<string, never> } : {}
    const body = kind === 'schedule' ? inputs : sample
    const answer = await run(() => answerOf(api.POST('/api/triggers/{document}/{trigger}/fire', { params, body })))
    if (answer?.firing.run_id !== undefined) setStarted(answer.firing.run_id)
  }
  if (started !== undefined) return <Started runId={started} onClose={onClose} />
  return (
    <Modal title={`Fire ${name}`} onClose={onClose}>
      <form class="stack" onSubmit={(event) => void fire(event)}>
        <p>One run of {document} is started now, with you behind it.</p>
        <label class="block-label">
          {LABELS[kind]} <span class="soft">(JSON; may be left empty)</span>
          <textarea
            rows={5}
            spellcheck={false}
            value={text}
            aria-invalid={wrong !== undefined}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        {wrong !== undefined && <p class="small tone-bad">This is not JSON: {wrong}</p>}
        {tried !== undefined && <TriedWords tried={tried} />}
        {problem !== undefined && <ProblemNotice problem={problem} />}
        <div class="actions">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="button" disabled={isBusy || wrong !== undefined} onClick={() => void attempt()}>
            Try without starting
          </button>
          <button type="submit" class="primary" disabled={isBusy || wrong !== undefined}>
            Fire
          </button>
        </div>
      </form>
    </Modal>
  )
}

const LABELS = {
  schedule: 'Run inputs that go before those of the document',
  webhook: 'The message',
  event: 'The payload of the event',
  run: 'The outputs of the run, by block and port',
  object: 'What expressions read of the object, as {"ref": "objstore://..", "key": "inbox/a.csv"}',
} as const

function TriedWords({ tried }: { readonly tried: Tried }) {
  return (
    <div role="status">
      <p>{tried.ok ? 'A run would start with these inputs:' : 'No run would start:'}</p>
      {tried.problems.map(({ code, message }) => (
        <p key={message} class="small">
          {message} <code>{code}</code>
        </p>
      ))}
      <pre class="small">{JSON.stringify(tried.inputs, null, 2)}</pre>
    </div>
  )
}

function Started({ runId, onClose }: { readonly runId: string; readonly onClose: () => void }) {
  return (
    <Modal title="Fired" onClose={onClose}>
      <p role="status">
        Its run is <a href={hrefOf(['runs', runId])}>{runId}</a>.
      </p>
      <div class="actions">
        <button type="button" class="primary" onClick={onClose}>
          Close
        </button>
      </div>
    </Modal>
  )
}
