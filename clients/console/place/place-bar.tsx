import { useState } from 'preact/hooks'
import { hrefOf } from '../route.ts'
import { useKeys } from './keys.ts'
import { health } from './place-state.ts'
import { areShortcutsShown } from './shortcuts.tsx'
import { StopAllDialog } from './stop-all-dialog.tsx'
import { chooseTheme, THEMES, theme } from './theme.ts'
import './place.css'

/** The right end of the header: whether the place answers, and what concerns all of it. */
export function PlaceBar() {
  const [isStopping, setStopping] = useState(false)
  useKeys({ key: '?', label: 'All shortcuts', run: showShortcuts })
  return (
    <div class="rest">
      <Connection />
      <ThemeChoice />
      <button type="button" class="icon-button" onClick={showShortcuts} title="Keyboard shortcuts">
        <kbd>?</kbd>
        <span class="visually-hidden">Keyboard shortcuts</span>
      </button>
      <button type="button" class="danger" onClick={() => setStopping(true)}>
        Stop all
      </button>
      {isStopping && <StopAllDialog onClose={() => setStopping(false)} />}
    </div>
  )
}

function showShortcuts(): void {
  areShortcutsShown.value = true
}

function Connection() {
  const isAway = health.problem.value !== undefined
  const { version } = health.value.value ?? {}
  const words = isAway ? 'No answer' : version === undefined ? 'Connecting' : 'Connected'
  return (
    <a class="connection" href={hrefOf(['safety'])} title={`${location.host}: limits of this place`}>
      <span role="status" class={isAway ? 'is-away' : 'is-there'}>
        <span aria-hidden="true">{isAway ? '✕' : '●'}</span> {words}
      </span>
      {version !== undefined && <span class="soft small">v{version}</span>}
    </a>
  )
}

function ThemeChoice() {
  const choose = (event: { readonly currentTarget: HTMLSelectElement }) => {
    const chosen = THEMES.find((known) => known === event.currentTarget.value)
    if (chosen !== undefined) chooseTheme(chosen)
  }
  return (
    <select class="theme-choice" aria-label="Theme" value={theme.value} onChange={choose}>
      {THEMES.map((name) => (
        <option key={name} value={name}>
          {name[0]?.toUpperCase()}
          {name.slice(1)}
        </option>
      ))}
    </select>
  )
}
