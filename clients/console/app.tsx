import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { HoldNotice } from './place/hold-notice.tsx'
import { useKeys } from './place/keys.ts'
import { PlaceBar } from './place/place-bar.tsx'
import { pendingApprovals } from './place/place-state.ts'
import { Shortcuts } from './place/shortcuts.tsx'
import { hrefOf, route } from './route.ts'
import { VIEWS } from './views.ts'

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
      <main id="main" tabIndex={-1}>
        <Shown component={view?.component} />
      </main>
      <Shortcuts />
    </>
  )
}

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
