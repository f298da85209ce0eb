import { changeLines, type RunChanges } from '../../../shared/approvals/run-changes.ts'

/** What is not as the deployed document says: first thing that whoever decides reads. */
export function RunChangesNotice({ changes }: { readonly changes: RunChanges | undefined }) {
  if (changes === undefined) return null
  return (
    <div class="notice tone-warn" role="note">
      <p>
        <strong>Not a plain start of the deployed document</strong>
      </p>
      <ul>
        {changeLines(changes).map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </div>
  )
}
