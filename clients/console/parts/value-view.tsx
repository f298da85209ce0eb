import './value.css'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { bytesWords } from './format.ts'
import {
  type FoldAt,
  foldText,
  isTree,
  type NamedObject,
  namedObject,
  textPieces,
  treePreview,
  treeWords,
} from './value-text.ts'

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

interface NodeProps {
  readonly name: string
  readonly value: unknown
  readonly depth: number
  /** At first. */
  readonly isOpen: boolean
}

/** Members of an object or array, each foldable; what is folded is not built. */
function ValueTree({ value }: { readonly value: object }) {
  return <Members value={value} depth={0} />
}

function Members({ value, depth }: { readonly value: object; readonly depth: number }) {
  const [most, setMost] = useState(MEMBERS_SHOWN)
  const members = Object.entries(value)
  if (members.length === 0) return <span class="soft">{Array.isArray(value) ? '[ ] no items' : '{ } no members'}</span>
  const rest = members.length - most
  return (
    <>
      <ul class="value-members">
        {members.slice(0, most).map(([name, member]) => (
          <li key={name}>
            <Node name={name} value={member} isOpen={depth === 0 && members.length <= FEW} depth={depth} />
          </li>
        ))}
      </ul>
      {rest > 0 && (
        <button type="button" class="quiet" onClick={() => setMost(most + MEMBERS_SHOWN * 5)}>
          Show more ({rest} of {members.length} are left)
        </button>
      )}
    </>
  )
}

const MEMBERS_SHOWN = 100

function Node({ name, value, depth, isOpen }: NodeProps) {
  const object = namedObject(value)
  if (object !== undefined || !isTree(value)) {
    return (
      <span class="value-leaf">
        <span class="value-name">{name}</span>
        {object === undefined ? <Leaf value={value} /> : <ObjectLink object={object} />}
      </span>
    )
  }
  return <Branch name={name} value={value} depth={depth} isOpen={isOpen} />
}

function Branch({ name, value, depth, ...first }: NodeProps & { readonly value: object }) {
  const [isOpen, setOpen] = useState(first.isOpen && Object.keys(value).length <= OPEN_UP_TO)
  const preview = treePreview(value)
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span class="value-name">{name}</span>{' '}
        <span class="soft small">
          {treeWords(value)}
          {!isOpen && preview !== '' && <span class="value-preview"> · {preview}</span>}
        </span>
      </summary>
      {isOpen && <Members value={value} depth={depth + 1} />}
    </details>
  )
}

/** Members of a tree that are opened at once, and how many of their own they may have for it. */
const FEW = 5
const OPEN_UP_TO = 12

/** A value without members. */
function Leaf({ value }: { readonly value: unknown }) {
  if (typeof value !== 'string') return <code>{String(value)}</code>
  if (value === '') return <span class="soft">empty text</span>
  return TOKEN.test(value) ? <code>{value}</code> : <TextValue text={value} foldAt={LEAF} />
}

/** A hash, an id, an address: nothing that is read as prose. */
const TOKEN = /^[\w:./@-]{20,200}$/

const LEAF = { lines: 8, characters: 600 }

/** A text as it was written, wrapped, folded where it is long. Never HTML: Markdown is shown as its source. */
export function TextValue({ text, foldAt = WHOLE_TEXT }: { readonly text: string; readonly foldAt?: FoldAt }) {
  const [isWhole, setWhole] = useState(false)
  const { shown, hidden } = foldText(text, foldAt)
  return (
    <div class="value-text">
      <div class="wrapped">
        {textPieces(isWhole ? text : shown).map((piece, index) => (
          // The place is what a piece is: they are cut anew from the same text.
          <div key={index} class="piece" style={{ containIntrinsicBlockSize: `auto ${heightOf(piece)}em` }}>
            {piece}
          </div>
        ))}
      </div>
      {hidden > 0 && (
        <button type="button" class="quiet" onClick={() => setWhole(!isWhole)} aria-expanded={isWhole}>
          {isWhole ? 'Show less' : `Show all (${bytesWords(hidden)} more)`}
        </button>
      )}
    </div>
  )
}

const WHOLE_TEXT: FoldAt = { lines: 30, characters: 4_096 }

/** About, of lines of a hundred characters: how far the scroll bar jumps before a piece was laid out. */
function heightOf(piece: string): number {
  const lines = piece.split('\n').reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / 100)), 0)
  return lines * 1.5
}

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

/** Copies `text()`, which is made only then; says whether it worked where the word was. */
export function CopyButton({ text, label }: { readonly text: () => string; readonly label: string }) {
  const [said, setSaid] = useState<string>()
  useEffect(() => {
    if (said === undefined) return
    const timer = setTimeout(() => setSaid(undefined), SAID_MS)
    return () => clearTimeout(timer)
  }, [said])
  const copy = () => {
    copyText(text()).then(
      () => setSaid('Copied'),
      () => setSaid('Not allowed by the browser'),
    )
  }
  return (
    <button type="button" class="quiet" onClick={copy}>
      {said ?? 'Copy'}
      <span class="visually-hidden"> {label}</span>
    </button>
  )
}

const SAID_MS = 2_000

/** The browser gives pages of plain http on another host no clipboard at all. */
async function copyText(text: string): Promise<void> {
  await navigator.clipboard.writeText(text)
}
