import { useState } from 'preact/hooks'
import { ObjectLink } from './object-link.tsx'
import { TextValue } from './text-value.tsx'
import { isTree, namedObject } from './value-shape.ts'
import { treePreview, treeWords } from './value-words.ts'

interface NodeProps {
  readonly name: string
  readonly value: unknown
  readonly depth: number
  /** At first. */
  readonly isOpen: boolean
}

/** Members of an object or array, each foldable; what is folded is not built. */
export function ValueTree({ value }: { readonly value: object }) {
  return <Members value={value} depth={0} />
}

function Members({ value, depth }: { readonly value: object; readonly depth: number }) {
  const [most, setMost] = useState(PAGE)
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
        <button type="button" class="quiet" onClick={() => setMost(most + PAGE * 5)}>
          Show more ({rest} of {members.length} are left)
        </button>
      )}
    </>
  )
}

const PAGE = 100

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
