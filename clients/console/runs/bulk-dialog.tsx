import { useState } from 'preact/hooks'
import type { operations } from '../../api/schema.generated.ts'
import { answerOf, api } from '../api.ts'
import { Modal } from '../parts/modal.tsx'
import { ProblemNotice } from '../parts/notice.tsx'
import { StateMark } from '../parts/state-mark.tsx'
import { useAnswer, useChange } from '../parts/use-answer.ts'
import { hrefOf } from '../route.ts'

type Body = operations['plan-bulk']['requestBody']['content']['application/json']
type Plan = operations['plan-bulk']['responses'][201]['content']['application/json']
type Bulk = Plan['bulk']
type Action = Body['action']

const ACTIONS: Readonly<Record<Action, { readonly label: string; readonly asks: string }>> = {
  stop: { label: 'Stop', asks: 'Stop' },
  retry: { label: 'Retry', asks: 'Retry' },
  label: { label: 'Change labels', asks: 'Change the labels of' },
  erase: { label: 'Erase for good', asks: 'Erase for good' },
}
const ACTION_NAMES = Object.keys(ACTIONS) as readonly Action[]

/** One thing done to all runs that a search finds: what it is, then the runs with their count, then how far it is. */
export function BulkDialog({ q, onClose }: { readonly q: string; readonly onClose: () => void }) {
  const [plan, setPlan] = useState<Plan>()
  const [started, setStarted] = useState<string>()
  return (
    <Modal title="Do to all that are found" onClose={onClose}>
      <p>
        Search <code class="wrong-query">{q}</code>
      </p>
      {started !== undefined ? (
        <Progress bulk_id={started} onClose={onClose} />
      ) : plan !== undefined ? (
        <Confirm plan={plan} onStarted={setStarted} onBack={() => setPlan(undefined)} />
      ) : (
        <Choose q={q} onPlan={setPlan} onClose={onClose} />
      )}
    </Modal>
  )
}

interface ChooseProps {
  readonly q: string
  readonly onPlan: (plan: Plan) => void
  readonly onClose: () => void
}

function Choose({ q, onPlan, onClose }: ChooseProps) {
  const [action, setAction] = useState<Action>('stop')
  const [reason, setReason] = useState('')
  const [set, setSet] = useState('')
  const [remove, setRemove] = useState('')
  const { isBusy, problem, run } = useChange()
  const show = async (event: Event) => {
    event.preventDefault()
    const body = bodyOf(action, q, { reason, set, remove })
    const made = await run(() => answerOf(api.POST('/api/dag/bulk', { body })))
    if (made !== undefined) onPlan(made)
  }
  const isLabel = action === 'label'
  return (
    <form class="stack" onSubmit={(event) => void show(event)}>
      <label>
        What
        <select
          value={action}
          onChange={({ currentTarget }) => setAction(ACTION_NAMES.find((one) => one === currentTarget.value) ?? 'stop')}
        >
          {ACTION_NAMES.map((one) => (
            <option key={one} value={one}>
              {ACTIONS[one].label}
            </option>
          ))}
        </select>
      </label>
      {(action === 'stop' || action === 'erase') && (
        <label>
          {action === 'erase' ? 'Why (kept for good: name nobody)' : 'Why'}
          <input
            value={reason}
            required={action === 'erase'}
            maxLength={500}
            onInput={({ currentTarget }) => setReason(currentTarget.value)}
          />
        </label>
      )}
      {isLabel && (
        <>
          <label>
            Set
            <input
              placeholder="KEY=VALUE, more with spaces"
              value={set}
              onInput={({ currentTarget }) => setSet(currentTarget.value)}
            />
          </label>
          <label>
            Take away
            <input
              placeholder="KEY, more with spaces"
              value={remove}
              onInput={({ currentTarget }) => setRemove(currentTarget.value)}
            />
          </label>
        </>
      )}
      {problem !== undefined && <ProblemNotice problem={problem} />}
      <div class="row">
        <button type="submit" class="primary" disabled={isBusy}>
          Show the runs
        </button>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </form>
  )
}

interface Typed {
  readonly reason: string
  readonly set: string
  readonly remove: string
}

function bodyOf(action: Action, q: string, { reason, set, remove }: Typed): Body {
  const why = reason.trim()
  const words = (text: string) => text.split(/\s+/).filter((word) => word !== '')
  const pairs = words(set).map((pair) => [pair.split('=', 1)[0] ?? '', pair.slice(pair.indexOf('=') + 1)] as const)
  const labels = {
    ...(pairs.length === 0 ? {} : { set: Object.fromEntries(pairs) }),
    ...(words(remove).length === 0 ? {} : { remove: words(remove) }),
  }
  return {
    action,
    q,
    ...(why === '' || (action !== 'stop' && action !== 'erase') ? {} : { reason: why }),
    ...(action === 'label' ? { labels } : {}),
  }
}

interface ConfirmProps {
  readonly plan: Plan
  readonly onStarted: (bulk_id: string) => void
  readonly onBack: () => void
}

/** Nothing was done yet: what is confirmed is done to exactly these. */
function Confirm({ plan: { bulk, first }, onStarted, onBack }: ConfirmProps) {
  const { isBusy, problem, run } = useChange()
  const start = async () => {
    const params = { path: { bulk_id: bulk.bulk_id } }
    const begun = await run(() => answerOf(api.POST('/api/dag/bulk/{bulk_id}', { params, body: { do: 'start' } })))
    if (begun !== undefined) onStarted(bulk.bulk_id)
  }
  const runs = bulk.count === 1 ? '1 run' : `${bulk.count.toLocaleString('en')} runs`
  return (
    <>
      <p>
        <strong>
          {runs} {bulk.count === 1 ? 'is' : 'are'} found.
        </strong>{' '}
        {bulk.more === true && 'There are more, or may be: these are the newest. '}
        {bulk.count > first.length && `The newest ${first.length}:`}
      </p>
      <ul class="bulk-runs">
        {first.map(({ run_id, dag_name, state }) => (
          <li key={run_id}>
            <StateMark state={state} /> {dag_name} <code class="soft small">{run_id.slice(4, 12)}</code>
          </li>
        ))}
      </ul>
      {problem !== undefined && <ProblemNotice problem={problem} />}
      <div class="row">
        {bulk.count > 0 && (
          <button
            type="button"
            class={bulk.action === 'label' || bulk.action === 'retry' ? 'primary' : 'danger'}
            disabled={isBusy}
            onClick={() => void start()}
          >
            {ACTIONS[bulk.action].asks} {runs}
          </button>
        )}
        <button type="button" onClick={onBack}>
          Back
        </button>
      </div>
    </>
  )
}

const OFTEN_MS = 1_000

/** It goes on without this page. */
function Progress({ bulk_id, onClose }: { readonly bulk_id: string; readonly onClose: () => void }) {
  const params = { path: { bulk_id } }
  const { value, problem, reload } = useAnswer(
    bulk_id,
    () => answerOf(api.GET('/api/dag/bulk/{bulk_id}', { params: { ...params, query: { limit: 200 } } })),
    OFTEN_MS,
  )
  const change = useChange()
  const cancel = async () => {
    await change.run(() => answerOf(api.POST('/api/dag/bulk/{bulk_id}', { params, body: { do: 'cancel' } })))
    reload()
  }
  const refused = value?.runs.filter(({ outcome }) => outcome?.refused !== undefined) ?? []
  const shown = change.problem ?? problem
  return (
    <>
      {value !== undefined && <Looked bulk={value.bulk} />}
      {refused.length > 0 && (
        <ul class="bulk-runs">
          {refused.map(({ run_id, outcome }) => (
            <li key={run_id}>
              <a href={hrefOf(['runs', run_id, 'graph'])}>
                <code>{run_id.slice(4, 12)}</code>
              </a>{' '}
              <span class="soft small">{outcome?.refused?.message}</span>
            </li>
          ))}
        </ul>
      )}
      {shown !== undefined && <ProblemNotice problem={shown} />}
      <div class="row">
        {value?.bulk.state === 'running' && (
          <button type="button" class="danger" disabled={change.isBusy} onClick={() => void cancel()}>
            Cancel what is left
          </button>
        )}
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </>
  )
}

function Looked({ bulk: { state, count, looked, done, refused, bulk_id } }: { readonly bulk: Bulk }) {
  return (
    <p role="status">
      <StateMark state={state} /> {done} of {count} done, {refused} refused
      {looked < count && `, ${count - looked} left`}. <code class="soft small">{bulk_id}</code>
      <progress max={count} value={looked} aria-label="Runs that have their outcome" />
    </p>
  )
}
