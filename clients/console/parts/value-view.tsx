import { useMemo, useState } from 'preact/hooks'
import { bytesWords } from './amount-words.ts'
import { CopyButton } from './copy-button.tsx'
import { ObjectLink } from './object-link.tsx'
import { TextValue } from './text-value.tsx'
import { isTree, namedObject } from './value-shape.ts'
import { ValueTree } from './value-tree.tsx'
import './value.css'

interface ValueProps {
  readonly value: unknown
  /** What it is, for people who do not see where it stands: `output text of draft`. */
  readonly label: string
}

/** Any JSON value so that a person can read it: texts wrapped, trees foldable, both also as they are (raw). */
export function ValueView({ value, label }: ValueProps) {
  const [isRaw, setRaw] = useState(false)
  const object = namedObject(value)
  if (object !== undefined) return <ObjectLink object={object} />
  if (value === undefined) return <span class="soft">nothing</span>
  if (typeof value !== 'string' && !isTree(value)) return <code>{String(value)}</code>
  return (
    <figure class="value" aria-label={label}>
      <div class="value-bar">
        <span class="soft small">{sizeWords(value)}</span>
        <button type="button" class="quiet" aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
          Raw
        </button>
        <CopyButton text={() => rawText(value)} label={label} />
      </div>
      {isRaw ? <RawValue value={value} label={label} /> : <ReadableValue value={value} />}
    </figure>
  )
}

/** As it is: a text itself, anything else as JSON. */
function rawText(value: string | object): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}

function sizeWords(value: string | object): string {
  if (typeof value !== 'string') return Array.isArray(value) ? 'list' : 'object'
  return bytesWords(new Blob([value]).size)
}

function ReadableValue({ value }: { readonly value: string | object }) {
  if (typeof value !== 'string') return <ValueTree value={value} />
  return value === '' ? <p class="soft">an empty text</p> : <TextValue text={value} />
}

/** A field of the browser's own: it scrolls and selects by keyboard, and a megabyte in it stays quick. */
function RawValue({ value, label }: { readonly value: string | object; readonly label: string }) {
  const raw = useMemo(() => rawText(value), [value])
  const rows = Math.min(24, Math.max(3, raw.split('\n', 24).length))
  return <textarea class="value-raw" readOnly wrap="off" rows={rows} value={raw} aria-label={`${label}, raw`} />
}
