import { changeLines, NOT_PLAIN, type RunChanges } from '../../../shared/approvals/run-changes.ts'

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
