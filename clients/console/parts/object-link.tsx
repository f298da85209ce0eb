import { bytesWords } from './amount-words.ts'
import type { NamedObject } from './value-shape.ts'

/** A stored object by the beginning of its hash; the link opens its bytes as the server has them. */
export function ObjectLink({ object: { ref, sha256, bytes } }: { readonly object: NamedObject }) {
  return (
    <span class="object-link">
      <a href={`/api/objects/${sha256}`} target="_blank" rel="noreferrer" title={ref}>
        object <code>{sha256.slice(0, 12)}</code>
      </a>
      {bytes !== undefined && <span class="soft small"> {bytesWords(bytes)}</span>}
    </span>
  )
}
