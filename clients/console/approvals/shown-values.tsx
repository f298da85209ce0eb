import { bytesWords } from '../parts/amount-words.ts'
import { ValueView } from '../parts/value-view.tsx'
import type { Approval } from './decision.ts'

/** Exactly what the digest binds a decision to: every value with its size and hash. */
export function ShownValues({ approval }: { readonly approval: Approval }) {
  const names = Object.keys(approval.shown_refs)
  return (
    <section class="stack">
      <h3>What is approved</h3>
      {names.length === 0 && <p class="empty">It shows no values: the question is all there is.</p>}
      {names.map((name) => (
        <div key={name} class="shown-value">
          <p class="shown-name">
            <strong>{name}</strong>
            <StoredFacts stored={approval.shown_refs[name]} />
          </p>
          <ValueView value={approval.shown[name]} label={`shown value ${name}`} />
        </div>
      ))}
      <p class="small">
        <span class="soft">Digest of all that is shown, the prompt and the block's definition</span>
        <br />
        <code class="hash">{approval.digest}</code>
      </p>
    </section>
  )
}

function StoredFacts({ stored }: { readonly stored: Approval['shown_refs'][string] | undefined }) {
  if (stored === undefined) return null
  return (
    <span class="soft small">
      {bytesWords(stored.bytes)} as JSON, sha256{' '}
      <code class="hash" title={stored.sha256}>
        {stored.sha256.slice(0, 16)}
      </code>
    </span>
  )
}
