import './triggers.css'
import { useState } from 'preact/hooks'
import { answerOf, api } from '../api.ts'
import { momentWords } from '../parts/format.ts'
import { Empty, ProblemNotice } from '../parts/notice.tsx'
import { StateMark } from '../parts/state-mark.tsx'
import { Ago } from '../parts/time-view.tsx'
import { useAnswer, useChange } from '../parts/use-answer.ts'
import { hrefOf } from '../route.ts'
import { FireDialog } from './fire-dialog.tsx'
import { firingState, type Trigger, troubleOf } from './trigger-words.ts'

const EVERY_MS = 5_000

/** What starts runs of the deployed documents by itself: how it stands, a pause, and a firing by hand. */
export function TriggersView() {
  const { value, problem, reload } = useAnswer('triggers', () => answerOf(api.GET('/api/triggers')), EVERY_MS)
  return (
    <section class="page stack narrow-page">
      <h1>Triggers</h1>
      {problem !== undefined && <ProblemNotice problem={problem} retry={reload} />}
      {value === undefined && problem === undefined && <p class="empty">Asking the place for its triggers.</p>}
      {value?.triggers.length === 0 && (
        <Empty problem={problem}>
          No deployed document starts runs by itself. Its section <code>triggers</code> says when: a schedule, a
          webhook, an event, the end of other runs or what is dropped.
        </Empty>
      )}
      {value !== undefined && value.unsound.length > 0 && (
        <div class="notice tone-bad" role="alert">
          <p>
            <strong>Something of the triggers of {value.unsound.join(', ')} is wrong, and does not start.</strong>{' '}
            <code>sluice validate</code> says what.
          </p>
        </div>
      )}
      <ul class="triggers">
        {value?.triggers.map((trigger) => (
          <li key={`${trigger.document}/${trigger.name}`}>
            <TriggerCard trigger={trigger} reload={reload} />
          </li>
        ))}
      </ul>
    </section>
  )
}

interface CardProps {
  readonly trigger: Trigger
  readonly reload: () => void
}

function TriggerCard({ trigger, reload }: CardProps) {
  const [isFiring, setFiring] = useState(false)
  const { isBusy, problem, run } = useChange()
  const { document, name, kind, says, url, paused } = trigger
  const change = async () => {
    const body = { paused: paused === undefined }
    const params = { path: { document, trigger: name } }
    await run(() => answerOf(api.PATCH('/api/triggers/{document}/{trigger}', { params, body })))
    reload()
  }
  return (
    <article class="card stack" aria-label={`Trigger ${name} of ${document}`}>
      <div class="row">
        <h2>
          {document} / {name}
        </h2>
        <span class="soft">{kind}</span>
      </div>
      <dl class="facts">
        <dt>Fired by</dt>
        <dd>
          <code>{says}</code>
        </dd>
        {url !== undefined && (
          <>
            <dt>Address</dt>
            <dd>
              <code>POST {url}</code>
            </dd>
          </>
        )}
        <Standing trigger={trigger} />
      </dl>
      {trigger.last !== undefined && <Firings trigger={trigger} />}
      {problem !== undefined && <ProblemNotice problem={problem} />}
      <div class="row">
        <button type="button" disabled={isBusy} onClick={() => void change()}>
          {paused === undefined ? 'Pause' : 'Resume'}
          <span class="visually-hidden"> {name}</span>
        </button>
        <button type="button" onClick={() => setFiring(true)}>
          Fire by hand
          <span class="visually-hidden"> {name}</span>
        </button>
      </div>
      {isFiring && (
        <FireDialog
          trigger={trigger}
          onClose={() => {
            setFiring(false)
            reload()
          }}
        />
      )}
    </article>
  )
}

function Standing({ trigger }: { readonly trigger: Trigger }) {
  const { paused, next, last, waiting, missed } = trigger
  const trouble = troubleOf(trigger)
  return (
    <>
      {trouble !== undefined && (
        <>
          <dt>Trouble</dt>
          <dd class="tone-bad trouble">
            <span aria-hidden="true">✕</span> {trouble}
          </dd>
        </>
      )}
      {paused !== undefined && (
        <>
          <dt>Paused</dt>
          <dd>
            by {paused.by}, <Ago at={paused.at} />
            {paused.reason !== undefined && `: ${paused.reason}`}
          </dd>
        </>
      )}
      {next !== undefined && (
        <>
          <dt>Next</dt>
          <dd>
            <time dateTime={next} title={next}>
              {momentWords(next)}
            </time>
          </dd>
        </>
      )}
      <dt>Last</dt>
      <dd>{last === undefined ? 'never fired' : <Fired firing={last} />}</dd>
      {waiting > 0 && (
        <>
          <dt>Owed</dt>
          <dd>
            {waiting} {waiting === 1 ? 'firing waits for its run' : 'firings wait for their runs'}
          </dd>
        </>
      )}
      {missed !== undefined && (
        <>
          <dt>Missed</dt>
          <dd>
            {missed.count}
            {missed.more === true && ' and more'} while nobody looked, the last {momentWords(missed.last)}
          </dd>
        </>
      )}
    </>
  )
}

/** The newest of them, also those that were skipped or joined with another; asked for when somebody looks. */
function Firings({ trigger: { document, name } }: { readonly trigger: Trigger }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        Firings<span class="visually-hidden"> of {name}</span>
      </summary>
      {isOpen && <FiringList document={document} name={name} />}
    </details>
  )
}

function FiringList({ document, name }: Pick<Trigger, 'document' | 'name'>) {
  const params = { path: { document, trigger: name } }
  const ask = () => answerOf(api.GET('/api/triggers/{document}/{trigger}', { params }))
  const { value, problem, reload } = useAnswer(`trigger ${document}/${name}`, ask, EVERY_MS)
  if (problem !== undefined) return <ProblemNotice problem={problem} retry={reload} />
  return (
    <ul class="firings">
      {value?.firings.map((firing) => (
        <li key={firing.id}>
          <Fired firing={firing} />
        </li>
      ))}
    </ul>
  )
}

function Fired({ firing }: { readonly firing: NonNullable<Trigger['last']> }) {
  const { at, state, run_id, by, reason, object } = firing
  return (
    <>
      <StateMark state={firingState(state)} /> <Ago at={at} />
      {by !== undefined && ` by hand of ${by}`}
      {object !== undefined && <span class="dropped"> {object.key}</span>}
      {run_id !== undefined && (
        <>
          {' '}
          <a href={hrefOf(['runs', run_id])}>{run_id}</a>
        </>
      )}
      {reason !== undefined && <p class="small">{reason.message}</p>}
    </>
  )
}
