import type { ComponentChildren } from 'preact'
import { changeLines, NOT_PLAIN } from '../../../shared/approvals/run-change-lines.ts'
import type { RunChanges } from '../../../shared/runs/run-store-items.ts'
import type { ApiProblem } from '../api.ts'
import { health } from '../place-state.ts'

/** What the server refused: its words, each place with its hint, and the code the manual explains. */
export function ProblemNotice({ problem, retry }: { readonly problem: ApiProblem; readonly retry?: () => void }) {
  const errors = problem.problem.errors ?? []
  return (
    <div class="notice tone-bad" role="alert">
      <p>
        <strong>{problem.message}</strong>
      </p>
      {errors.length > 0 && (
        <ul>
          {errors.map(({ path, message, hint }) => (
            <li key={`${path} ${message}`}>
              <code>{path}</code> {message} {hint}
            </li>
          ))}
        </ul>
      )}
      <p class="small">
        Code <code>{problem.code}</code>
        {retry !== undefined && (
          <button type="button" onClick={retry}>
            Try again
          </button>
        )}
      </p>
    </div>
  )
}

interface Damaged {
  readonly run_id: string
  readonly approval_id?: string
  readonly item: string
  readonly seen: string
  readonly fix: string
}

/** What is there and cannot be read: it hides nothing else, and is not hidden itself. */
export function DamagedNotice({ damaged }: { readonly damaged: readonly Damaged[] }) {
  if (damaged.length === 0) return null
  return (
    <div class="notice tone-bad" role="alert">
      <p>
        <strong>Not everything that is there can be read.</strong>
      </p>
      <ul>
        {damaged.map(({ run_id, approval_id, item, seen, fix }) => (
          <li key={`${run_id} ${approval_id}`}>
            {approval_id === undefined ? 'Run' : 'A question of run'} <code>{run_id}</code>: its {item} is damaged (
            {seen}). {fix}
          </li>
        ))}
      </ul>
    </div>
  )
}

interface EmptyProps {
  readonly children: ComponentChildren
  /** What the question was refused with, where the last one was. */
  readonly problem?: ApiProblem | undefined
}

/**
 * A place with nothing in it says what would be there, and how it comes there. Where the server was not heard nobody knows
 * that there is nothing, and it is not said.
 */
export function Empty({ children, problem }: EmptyProps) {
  const isUnheard = problem !== undefined || health.problem.value !== undefined
  return (
    <p class="empty">
      {isUnheard ? 'Not known: the server did not answer. Nothing is said about what is there.' : children}
    </p>
  )
}

/** What is not as the deployed document says: first thing that whoever decides reads. */
export function RunChangesNotice({ changes }: { readonly changes: RunChanges | undefined }) {
  if (changes === undefined) return null
  return (
    <div class="notice tone-warn" role="note">
      <p>
        <strong>{NOT_PLAIN}</strong>
      </p>
      <ul>
        {changeLines(changes).map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </div>
  )
}
