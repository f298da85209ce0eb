import type { ComponentChildren } from 'preact'
import type { ApiProblem } from '../api.ts'

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

/** A place with nothing in it says what would be there, and how it comes there. */
export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <p class="empty">{children}</p>
}
