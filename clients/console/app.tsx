import './place.css'
import { effect, signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ApprovalsView } from './approvals/approvals-view.tsx'
import { CompareView } from './compare/compare-view.tsx'
import { EvalsView } from './evals/evals-view.tsx'
import { GraphView } from './graph/graph-view.tsx'
import { areShortcutsShown, Shortcuts, useKeys } from './parts/keyboard-shortcuts.tsx'
import { health, pendingApprovals } from './place-state.ts'
import { hrefOf, route } from './route.ts'
import { RunView } from './run/run-view.tsx'
import { RunsView } from './runs/runs-view.tsx'
import { SafetyView } from './safety/safety-view.tsx'
import { HoldNotice, StopAllDialog } from './safety/stop-all.tsx'
import { StartView } from './start/start-view.tsx'
import { TriggersView } from './triggers/triggers-view.tsx'

/** The console: menu above, the view of the address below. */
export function App() {
  const [name = 'runs', ...rest] = route.value.parts
  const view = VIEWS.find((one) => one.name === name)
  const asked = pendingCount()
  const title = `${asked === undefined ? '' : `(${asked}) `}${rest[0] ?? view?.label ?? name} - Sluice`
  useEffect(() => {
    document.title = title
  }, [title])
  useKeys(
    ...VIEWS.flatMap(({ name: to, label, key }) =>
      key === undefined ? [] : [{ key, label: `Go to ${label.toLowerCase()}`, run: () => open(to) }],
    ),
  )
  return (
    <>
      <button type="button" class="skip" onClick={skipToMain}>
        Skip to content
      </button>
      <header class="bar">
        <a class="brand" href={hrefOf(['runs'])}>
          Sluice
        </a>
        <Menu shown={name} asked={asked} />
        <PlaceBar />
      </header>
      <HoldNotice />
      <ProjectNotice />
      <main id="main" tabIndex={-1}>
        <Shown component={view?.component} />
      </main>
      <Shortcuts />
    </>
  )
}

/** While somebody works on the project of this place (`sluice dev`): what is wrong with its files. */
function ProjectNotice() {
  const problems = health.value.value?.project ?? []
  if (problems.length === 0) return null
  return (
    <aside class="hold tone-bad" aria-label="Problems of the project">
      <strong>
        <span aria-hidden="true">✕</span> {problems.length === 1 ? '1 problem' : `${problems.length} problems`} in the
        project
      </strong>
      <ul>
        {problems.slice(0, MOST_PROBLEMS).map(({ file, line, column, code, message }) => (
          <li key={`${file}:${line}:${column}:${code}:${message}`}>
            <code>
              {file}
              {line !== undefined && `:${line}:${column ?? 1}`}
            </code>{' '}
            {message}
          </li>
        ))}
      </ul>
      {problems.length > MOST_PROBLEMS && <span>The terminal has them all.</span>}
    </aside>
  )
}

const MOST_PROBLEMS = 5

function Menu({ shown, asked }: { readonly shown: string; readonly asked: string | undefined }) {
  return (
    <nav aria-label="Views">
      {VIEWS.filter(({ isInMenu }) => isInMenu).map(({ name, label }) => (
        <a key={name} href={hrefOf([name])} aria-current={name === shown ? 'page' : undefined}>
          {label}
          {name === 'approvals' && asked !== undefined && (
            <span class="badge">
              {asked}
              <span class="visually-hidden"> pending</span>
            </span>
          )}
        </a>
      ))}
    </nav>
  )
}

function Shown({ component: Component = UnknownView }: { readonly component: ComponentType | undefined }) {
  return <Component />
}

function UnknownView() {
  return (
    <section class="page">
      <h1>Nothing is here</h1>
      <p>
        No view has the address <code>{route.value.path}</code>. <a href={hrefOf(['runs'])}>All runs</a>
      </p>
    </section>
  )
}

/** `3`; `100+` where there are more than one page of them; undefined for none. */
function pendingCount(): string | undefined {
  const { approvals = [], next_cursor = null } = pendingApprovals.value.value ?? {}
  if (approvals.length === 0) return undefined
  return next_cursor === null ? String(approvals.length) : `${approvals.length}+`
}

function open(view: string): void {
  location.hash = hrefOf([view])
}

/** A button, not a link: the address behind # is the view. */
function skipToMain(): void {
  document.getElementById('main')?.focus()
}

/** The list, or the run the address names. */
function RunsPage() {
  const [, runId] = route.value.parts
  return runId === undefined ? <RunsView /> : <RunView key={runId} runId={runId} />
}

interface View {
  /** The first part of its address. */
  readonly name: string
  readonly label: string
  readonly isInMenu: boolean
  readonly component: ComponentType
  /** The keys that open it. */
  readonly key?: string
}

/** Each view by the first part of its address: a new one is a line. */
const VIEWS: readonly View[] = [
  { name: 'runs', label: 'Runs', isInMenu: true, component: RunsPage, key: 'g r' },
  { name: 'approvals', label: 'Approvals', isInMenu: true, component: ApprovalsView, key: 'g a' },
  { name: 'triggers', label: 'Triggers', isInMenu: true, component: TriggersView, key: 'g t' },
  { name: 'compare', label: 'Compare', isInMenu: true, component: CompareView, key: 'g c' },
  { name: 'graph', label: 'Knowledge', isInMenu: true, component: GraphView, key: 'g k' },
  { name: 'evals', label: 'Evaluations', isInMenu: true, component: EvalsView, key: 'g e' },
  { name: 'start', label: 'Start a run', isInMenu: false, component: StartView, key: 'g s' },
  { name: 'safety', label: 'Safety', isInMenu: false, component: SafetyView, key: 'g l' },
]

/** The right end of the header: whether the place answers, and what concerns all of it. */
function PlaceBar() {
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

const THEMES = ['system', 'dark', 'light'] as const
type Theme = (typeof THEMES)[number]

/** The only thing this page keeps in the browser. */
const KEY = 'sluice-theme'
const systemLight = matchMedia('(prefers-color-scheme: light)')
const isSystemLight = signal(systemLight.matches)
systemLight.addEventListener('change', ({ matches }) => {
  isSystemLight.value = matches
})

/** What the reader chose; `system` follows the machine. */
const theme = signal<Theme>(stored())

effect(() => {
  const isLight = theme.value === 'light' || (theme.value === 'system' && isSystemLight.value)
  document.documentElement.dataset.theme = isLight ? 'light' : 'dark'
})

function chooseTheme(chosen: Theme): void {
  theme.value = chosen
  try {
    localStorage.setItem(KEY, chosen)
  } catch {
    // A browser that keeps nothing: the choice holds while the page is open.
  }
}

function stored(): Theme {
  try {
    return THEMES.find((known) => known === localStorage.getItem(KEY)) ?? 'system'
  } catch {
    return 'system'
  }
}
