import type { Answer, Approval, Draft } from './decision.ts'

interface FieldsProps {
  readonly approval: Approval
  readonly answer: Answer
  readonly feedback: string
  readonly onFeedback: (feedback: string) => void
  readonly restart: Draft['restart']
  readonly onRestart: (restart: Draft['restart']) => void
}

/** The words of a decision, and what a no leads to. */
export function DecideFields({ approval, answer, feedback, onFeedback, restart, onRestart }: FieldsProps) {
  return (
    <>
      {answer === 'reject' && approval.on_reject === 'iterate' && (
        <RestartChoice restart={restart} onRestart={onRestart} />
      )}
      <label class="block-label">
        {LABELS[answer]}
        <textarea
          rows={4}
          maxLength={3_000}
          required={answer !== 'approve'}
          value={feedback}
          onInput={(event) => onFeedback(event.currentTarget.value)}
        />
      </label>
    </>
  )
}

const LABELS: Readonly<Record<Answer, string>> = {
  approve: 'Comment (recorded; may be left empty)',
  waive: 'Why the gates may be waived (recorded)',
  reject: 'Feedback: what is wrong, and what to do instead',
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
