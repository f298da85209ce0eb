import { useEffect, useMemo } from 'preact/hooks'
import { ProblemNotice } from '../parts/notice.tsx'
import { hrefOf, route } from '../route.ts'
import { openRunSession } from '../run-session.ts'
import { Inspector } from './inspector.tsx'
import { RunHeading } from './run-heading.tsx'
import { TABS } from './run-tabs.ts'
import './run-view.css'
import type { TabProps } from './tab-props.ts'

/** One run: heading with what it waits for and what can be done, tabs below, the chosen block beside them. */
export function RunView({ runId }: { readonly runId: string }) {
  const session = useMemo(() => openRunSession(runId), [runId])
  useEffect(() => () => session.close(), [session])
  const problem = session.problem.value
  if (session.answer.value === undefined) {
    return (
      <section class="page stack">
        <h1>Run {runId}</h1>
        {problem === undefined ? (
          <p class="soft">Asking the server for it.</p>
        ) : (
          <ProblemNotice problem={problem} retry={() => void session.reload()} />
        )}
      </section>
    )
  }
  return (
    <section class="page run stack">
      <RunHeading session={session} />
      {problem !== undefined && <ProblemNotice problem={problem} retry={() => void session.reload()} />}
      <RunTabs session={session} />
    </section>
  )
}

function RunTabs({ session }: TabProps) {
  const { block, seq } = route.value.query
  const tabs = TABS.filter((tab) => tab.isFor?.(session) ?? true)
  const [, , name = tabs[0]?.name] = route.value.parts
  const Shown = TABS.find((tab) => tab.name === name)?.component
  return (
    <>
      <nav class="tabs run-tabs" aria-label="Parts of the run">
        {tabs.map((tab) => (
          <a
            key={tab.name}
            href={hrefOf(['runs', session.runId, tab.name], { block, seq })}
            aria-current={tab.name === name ? 'page' : undefined}
          >
            {tab.label}
          </a>
        ))}
      </nav>
      <div class={block === undefined ? 'run-body' : 'run-body has-block'}>
        <div class="run-part">
          {Shown === undefined ? <p>There is no part "{name}" of a run.</p> : <Shown session={session} />}
        </div>
        {block !== undefined && <Inspector key={block} session={session} blockId={block} />}
      </div>
    </>
  )
}
