import { signal } from '@preact/signals'
import { Modal } from '../parts/modal.tsx'
import { listedKeys } from './key-match.ts'
import { areKeysOn, registeredKeys } from './keys.ts'

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
