import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { type KeyMatch, listedKeys, matchKey } from './key-match.ts'
import { Modal } from './modal.tsx'

/** `key`: one key as `KeyboardEvent.key` names it, or two after one another: `g r`. */
interface Shortcut {
  readonly key: string
  /** What it does, as the dialog lists it: `Approve`. */
  readonly label: string
  run(): void
}

interface Registered {
  readonly keys: string
  readonly label: string
  /** Reads the newest function of the view: it is another one at each draw. */
  run(): void
}

/** All shortcuts that work now, in the order they came. */
const registeredKeys = signal<readonly Registered[]>([])

/** WCAG 2.1.4: who speaks to the machine turns single keys off. Kept while the page is open. */
const areKeysOn = signal(true)

/** Shortcuts of a view, as long as it is shown; never while somebody types or a dialog is open. */
export function useKeys(...shortcuts: readonly Shortcut[]): void {
  const latest = useRef(shortcuts)
  latest.current = shortcuts
  const names = shortcuts.map(({ key, label }) => `${key}\t${label}`).join('\n')
  useEffect(() => {
    const mine = latest.current.map(({ key, label }): Registered => {
      return { keys: key, label, run: () => latest.current.find((one) => one.key === key)?.run() }
    })
    registeredKeys.value = [...registeredKeys.value, ...mine]
    return () => {
      registeredKeys.value = registeredKeys.value.filter((one) => !mine.includes(one))
    }
  }, [names])
}

/** How long the second key of a sequence is awaited. */
const SEQUENCE_MS = 1_200
let match: KeyMatch<Registered> = {}
let typedAt = 0

addEventListener('keydown', (event) => {
  if (!areKeysOn.value || isElsewhere(event)) return
  const pending = event.timeStamp - typedAt < SEQUENCE_MS ? match.pending : undefined
  typedAt = event.timeStamp
  match = matchKey(registeredKeys.value, pending, event.key)
  if (match.found === undefined) return
  event.preventDefault()
  match.found.run()
})

const FIELDS = 'input:not([type="checkbox"], [type="radio"], [type="range"]), textarea, select, [contenteditable]'

function isElsewhere(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return true
  if (document.querySelector('dialog[open]') !== null) return true
  return event.target instanceof Element && event.target.matches(FIELDS)
}

export const areShortcutsShown = signal(false)

/** What the keyboard does here and now, as the views registered it. */
export function Shortcuts() {
  if (!areShortcutsShown.value) return null
  const close = () => {
    areShortcutsShown.value = false
  }
  return (
    <Modal title="Keyboard shortcuts" onClose={close}>
      <p class="soft">Of this view. They rest while you type into a field or a dialog is open.</p>
      <dl class="keys">
        {listedKeys(registeredKeys.value).map(({ keys, label }) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{KEY_WORDS[key] ?? key}</kbd>
              ))}
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
      <label>
        <input
          type="checkbox"
          checked={areKeysOn.value}
          onChange={(event) => {
            areKeysOn.value = event.currentTarget.checked
          }}
        />
        Single keys work (Tab, Enter, Esc and arrows always do)
      </label>
      <div class="actions">
        <button type="button" class="primary" onClick={close}>
          Close
        </button>
      </div>
    </Modal>
  )
}

const KEY_WORDS: Readonly<Record<string, string>> = {
  ArrowDown: '↓',
  ArrowUp: '↑',
  ArrowLeft: '←',
  ArrowRight: '→',
  ' ': 'Space',
}
