import { Empty } from '../parts/notice.tsx'
import type { Checked } from './start-request.ts'

interface CheckProps {
  readonly checked: Checked | undefined
  readonly isBehind: boolean
  readonly showLine: (line: number) => void
}

/** Every error with its place at once; a click shows the line. */
export function CheckWords({ checked, isBehind, showLine }: CheckProps) {
  if (checked === undefined) {
    return <Empty>Choose a deployed document or paste one: its errors, its plan and its inputs show up here.</Empty>
  }
  const { valid, errors, warnings } = checked
  return (
    <div class="stack">
      <p role="status" class={`check-state tone-${isBehind ? 'quiet' : valid ? 'good' : 'bad'}`}>
        {isBehind ? '… Checking' : valid ? '✓ Valid' : `✕ ${errors.length} ${errors.length === 1 ? 'error' : 'errors'}`}
      </p>
      {errors.length > 0 && <Issues issues={errors} showLine={showLine} label="Errors" />}
      {warnings.length > 0 && <Issues issues={warnings} showLine={showLine} label="Warnings" />}
    </div>
  )
}

interface IssuesProps {
  readonly issues: Checked['errors']
  readonly showLine: (line: number) => void
  readonly label: string
}

function Issues({ issues, showLine, label }: IssuesProps) {
  return (
    <ul class="issues" aria-label={label}>
      {issues.map(({ code, path, message, line, column }) => (
        <li key={`${path} ${code} ${message}`}>
          {typeof line === 'number' && (
            <button type="button" class="quiet" onClick={() => showLine(line)}>
              Line {line}
              {typeof column === 'number' && `, column ${column}`}
            </button>
          )}{' '}
          {path !== '' && <code>{path}</code>} {message}
        </li>
      ))}
    </ul>
  )
}
