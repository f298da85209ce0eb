import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { type ApiProblem, answerOf, api } from '../api.ts'
import { useKeys } from '../parts/keyboard-shortcuts.tsx'
import { Modal } from '../parts/modal.tsx'
import { ProblemNotice } from '../parts/notice.tsx'
import { TypedField } from '../parts/typed-field.tsx'
import { useAnswer, useChange } from '../parts/use-answer.ts'
import { readTyped, typedText } from '../parts/value-text.ts'
import {
  type Answer,
  type Approval,
  changedSince,
  type Draft,
  decisionBody,
  needsFeedback,
  subjectOf,
  whatIsAsked,
  yesAnswer,
} from './decision.ts'
import { DecisionSubject } from './question.tsx'

interface DecideProps {
  readonly approval: Approval
  /** `words`: what was done, for people. */
  readonly onDecided: (id: string, words: string) => void
  readonly reload: () => void
  /** Absent: yes. Where several are asked at once no key can tell which is meant. */
  readonly hasKeys?: boolean
}

/** The way to both answers, by button and key; who may not decide is told why. */
export function DecideButtons({ approval, onDecided, reload, hasKeys = true }: DecideProps) {
  const [answer, setAnswer] = useState<Answer>()
  const yes = yesAnswer(approval)
  const { allowed, reason } = approval.may_decide
  const isPending = approval.status === 'pending'
  const open = (next: Answer) => isPending && allowed && setAnswer(next)
  const words = BUTTONS[subjectOf(approval)]
  const keys = [
    { key: 'a', label: yes === 'waive' ? 'Waive the gates' : words.yes, run: () => open(yes) },
    { key: 'r', label: words.no, run: () => open('reject') },
  ]
  useKeys(...(hasKeys ? keys : []))
  // Decided elsewhere, an open dialog stays and says so: nobody's words vanish as they are written.
  if (!isPending && answer === undefined) return null
  return (
    <div class="decide">
      {isPending && (
        <div class="row">
          <button type="button" class="primary" disabled={!allowed} onClick={() => open(yes)}>
            {yes === 'waive' ? 'Waive' : words.yes} …
          </button>
          <button type="button" class="danger" disabled={!allowed} onClick={() => open('reject')}>
            {words.no} …
          </button>
          {!allowed && <span>You may not decide: {reason}</span>}
        </div>
      )}
      {answer !== undefined && (
        <DecideDialog
          shown={approval}
          answer={answer}
          onClose={() => {
            setAnswer(undefined)
            reload()
          }}
          onDecided={(words) => {
            setAnswer(undefined)
            reload()
            onDecided(approval.approval_id, words)
          }}
        />
      )}
    </div>
  )
}

/** A call of a tool is allowed or denied, and what an agent asks on its own is answered. */
const BUTTONS = {
  block: { yes: 'Approve', no: 'Reject' },
  call: { yes: 'Allow', no: 'Deny' },
  form: { yes: 'Answer', no: 'Do not answer' },
} as const

interface DialogProps {
  /** As the reader sees it: what is sent is its digest, whatever came since. */
  readonly shown: Approval
  readonly answer: Answer
  readonly onClose: () => void
  readonly onDecided: (words: string) => void
}

/** The last step: names what is decided on, takes the words for it, sends the digest of what was shown. */
function DecideDialog({ shown, answer, onClose, onDecided }: DialogProps) {
  const [seen, setSeen] = useState(shown)
  const [changes, setChanges] = useState<readonly string[]>([])
  const [feedback, setFeedback] = useState('')
  const [restart, setRestart] = useState<Draft['restart']>('refine')
  const [isMore, setMore] = useState(false)
  const edits = useEdits(seen, answer)
  const { isBusy, problem, run } = useChange()
  const submit = async (event: Event) => {
    event.preventDefault()
    const more = answer === 'reject' ? { stop: isMore } : { allowRest: isMore }
    const draft: Draft = { answer, feedback, restart, edits: edits.values, ...more }
    const done = await run(() => decide(seen, draft))
    if (done === undefined) return
    if ('now' in done) {
      setChanges(changedSince(seen, done.now))
      setSeen(done.now)
    } else onDecided(doneWords(seen, answer, done.status))
  }
  const subject = subjectOf(seen)
  const words = dialogWords(seen, answer)
  const isPending = shown.status === 'pending'
  const isReady = edits.isReady && (!needsFeedback(answer) || feedback.trim() !== '')
  return (
    <Modal title={words.title} onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        <DecisionSubject approval={seen} changes={changes} />
        {edits.fields}
        <DecideFields
          approval={seen}
          answer={answer}
          feedback={feedback}
          onFeedback={setFeedback}
          restart={restart}
          onRestart={setRestart}
        />
        {subject === 'call' && <MoreChoice approval={seen} answer={answer} isOn={isMore} onChange={setMore} />}
        {problem !== undefined && <ProblemNotice problem={problem} />}
        {!isPending && problem === undefined && <DecidedElsewhere approval={shown} />}
        <div class="actions">
          <button type="button" onClick={onClose}>
            {isPending ? 'Cancel' : 'Close'}
          </button>
          {isPending && (
            <button type="submit" class={answer === 'reject' ? 'danger' : 'primary'} disabled={isBusy || !isReady}>
              {words.button}
            </button>
          )}
        </div>
      </form>
    </Modal>
  )
}

/** What was written stays to be read or copied, and can no longer be sent. */
function DecidedElsewhere({ approval: { status, decided_by } }: { readonly approval: Approval }) {
  return (
    <div class="notice tone-warn" role="alert">
      <p>
        <strong>
          This was already {status}
          {decided_by === undefined ? '' : ` by ${decided_by}`}.
        </strong>{' '}
        Nothing you wrote here was sent.
      </p>
    </div>
  )
}

const WORDS: Readonly<Record<Answer, { readonly title: string; readonly button: string; readonly done: string }>> = {
  approve: { title: 'Approve', button: 'Approve', done: 'Approved' },
  waive: { title: 'Waive failed gates of', button: 'Waive gates of', done: 'Waived the gates of' },
  reject: { title: 'Reject', button: 'Reject', done: 'Rejected' },
}

/** Of a call the same in the words of its buttons. */
const CALL_WORDS = {
  call: { approve: { verb: 'Allow', done: 'Allowed' }, reject: { verb: 'Deny', done: 'Denied' } },
  form: { approve: { verb: 'Answer', done: 'Answered' }, reject: { verb: 'Do not answer', done: 'Did not answer' } },
} as const

function callWords(approval: Approval, answer: Answer) {
  const subject = subjectOf(approval)
  return subject === 'block' || answer === 'waive' ? undefined : CALL_WORDS[subject][answer]
}

function dialogWords(approval: Approval, answer: Answer): { readonly title: string; readonly button: string } {
  const words = callWords(approval, answer)
  const what = whatIsAsked(approval)
  if (words !== undefined) return { title: `${words.verb}: ${what}`, button: words.verb }
  return { title: `${WORDS[answer].title} ${what} of ${approval.dag_name}`, button: `${WORDS[answer].button} ${what}` }
}

/** Votes are not yet a decision. */
function doneWords(approval: Approval, answer: Answer, status: string): string {
  const { dag_name, quorum } = approval
  const what = `${whatIsAsked(approval)} of ${dag_name}`
  if (status === 'pending') return `Your yes to ${what} counts; ${quorum} people are needed.`
  return `${callWords(approval, answer)?.done ?? WORDS[answer].done} ${what}.`
}

interface MoreProps {
  readonly approval: Approval
  readonly answer: Answer
  readonly isOn: boolean
  readonly onChange: (isOn: boolean) => void
}

/** What else an answer about a call may mean. */
function MoreChoice({ approval, answer, isOn, onChange }: MoreProps) {
  if (answer === 'approve' && approval.allow_rest !== true) return null
  return (
    <label class="row">
      <input type="checkbox" checked={isOn} onChange={({ currentTarget }) => onChange(currentTarget.checked)} />
      {answer === 'approve'
        ? `Do not ask about later calls of ${approval.tool} in this run`
        : 'Stop the agent: its block fails'}
    </label>
  )
}

/** The new state, or how the question looks now, where it is no longer what was shown. */
async function decide(
  { run_id, ...shown }: Approval,
  draft: Draft,
): Promise<{ readonly status: string } | { readonly now: Approval }> {
  const params = { path: { run_id } }
  try {
    const body = decisionBody(shown, draft)
    const { approval } = await answerOf(api.POST('/api/dag/runs/{run_id}/approvals', { params, body }))
    return { status: approval.status }
  } catch (error) {
    const now = (error as ApiProblem).code === 'digest_changed' ? await askAgain(shown.approval_id) : undefined
    if (now === undefined) throw error
    return { now }
  }
}

async function askAgain(approval_id: string): Promise<Approval | undefined> {
  const params = { query: { approval_id, status: 'all' } } as const
  return (await answerOf(api.GET('/api/dag/approvals', { params }))).approvals[0]
}

interface FieldsProps {
  readonly approval: Approval
  readonly answer: Answer
  readonly feedback: string
  readonly onFeedback: (feedback: string) => void
  readonly restart: Draft['restart']
  readonly onRestart: (restart: Draft['restart']) => void
}

/** The words of a decision, and what a no leads to. */
function DecideFields({ approval, answer, feedback, onFeedback, restart, onRestart }: FieldsProps) {
  return (
    <>
      {answer === 'reject' && approval.on_reject === 'iterate' && (
        <RestartChoice restart={restart} onRestart={onRestart} />
      )}
      {/* A form has a field for words of its own. */}
      {(answer !== 'approve' || subjectOf(approval) !== 'form') && (
        <label class="block-label">
          {labelOf(approval, answer)}
          <textarea
            rows={4}
            maxLength={3_000}
            required={answer !== 'approve'}
            value={feedback}
            onInput={(event) => onFeedback(event.currentTarget.value)}
          />
        </label>
      )}
    </>
  )
}

const LABELS: Readonly<Record<Answer, string>> = {
  approve: 'Comment (recorded; may be left empty)',
  waive: 'Why the gates may be waived (recorded)',
  reject: 'Feedback: what is wrong, and what to do instead',
}

function labelOf(approval: Approval, answer: Answer): string {
  return subjectOf(approval) !== 'block' && answer === 'reject'
    ? 'Why not: the agent is told these words'
    : LABELS[answer]
}

const RESTARTS: readonly { readonly value: Draft['restart']; readonly label: string }[] = [
  { value: 'refine', label: 'Another run, which is given the results so far and the feedback' },
  { value: 'from_scratch', label: 'Another run, which is given the feedback alone' },
  { value: undefined, label: 'No other run: the block fails' },
]

function RestartChoice({ restart, onRestart }: Pick<FieldsProps, 'restart' | 'onRestart'>) {
  return (
    <fieldset class="choices">
      <legend>Then</legend>
      {RESTARTS.map(({ value, label }) => (
        <label key={label}>
          <input type="radio" name="restart" checked={restart === value} onChange={() => onRestart(value)} />
          {label}
        </label>
      ))}
    </fieldset>
  )
}

interface Edits {
  /** Fields to draw; nothing where nothing may be edited. */
  readonly fields: ComponentChildren
  readonly values: Readonly<Record<string, unknown>>
  /** Every field holds nothing or a value of its type. */
  readonly isReady: boolean
}

/** Inputs an approver may change as they approve; a field that stays as it was is no edit. */
function useEdits(approval: Approval, answer: Answer): Edits {
  const isOpen = answer === 'approve' && approval.edit.length > 0
  const types = usePortTypes(approval, isOpen)
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({})
  if (!isOpen) return { fields: null, values: {}, isReady: true }
  const fields = approval.edit.map((name) => {
    const type = types?.[name] ?? 'json'
    const before = typedText(type, approval.shown[name])
    return { name, type, before, text: texts[name] ?? before }
  })
  const changed = fields.filter(({ text, before }) => text !== before)
  const typed = changed.map(({ name, type, text }) => [name, readTyped(type, text)] as const)
  return {
    values: Object.fromEntries(typed.flatMap(([name, read]) => ('value' in read ? [[name, read.value]] : []))),
    isReady: types !== undefined && typed.every(([, read]) => !('problem' in read)),
    fields: (
      <fieldset class="choices">
        <legend>{EDIT_LEGENDS[subjectOf(approval)]}</legend>
        {types === undefined && <p class="empty">Asking which types they have.</p>}
        {types !== undefined &&
          fields.map(({ name, type, text }) => (
            <TypedField
              key={name}
              name={name}
              type={type}
              text={text}
              onText={(next) => setTexts((old) => ({ ...old, [name]: next }))}
            />
          ))}
      </fieldset>
    ),
  }
}

const EDIT_LEGENDS = {
  block: 'Inputs you may change (left as they are, they are no edits)',
  call: 'Arguments you may change (left as they are, they are no edits)',
  form: 'What the agent asks for (what is left empty is not given)',
} as const

/** The run's document says of which type each input is, and a question about a call itself. Undefined until it was answered. */
function usePortTypes(
  { run_id, block_id, edit_types }: Approval,
  isOpen: boolean,
): Readonly<Record<string, string>> | undefined {
  const { value, problem } = useAnswer(`types ${run_id} ${isOpen}`, async () => {
    if (!isOpen || edit_types !== undefined) return []
    const { dag } = await answerOf(api.GET('/api/dag/runs/{run_id}', { params: { path: { run_id } } }))
    return dag.blocks as readonly BlockInputs[]
  })
  if (edit_types !== undefined) return edit_types
  // Without the document every field takes JSON; the server checks it.
  if (problem !== undefined) return {}
  const inputs = value?.find(({ id }) => id === block_id)?.inputs ?? {}
  return value === undefined
    ? undefined
    : Object.fromEntries(Object.entries(inputs).map(([name, { type }]) => [name, type]))
}

/** As much of a normalised document as is needed here (shared/dag/dag.ts). */
interface BlockInputs {
  readonly id: string
  readonly inputs: Readonly<Record<string, { readonly type: string }>>
}
