import { useEffect, useRef } from 'preact/hooks'
import { StateMark } from '../parts/state-mark.tsx'
import { useKeys } from '../place/keys.ts'
import { changeQuery } from '../route.ts'
import type { RunSession } from '../run-session.ts'
import { BlockActions } from './actions.tsx'
import { inspectBlock } from './inspector-block.ts'
import { InspectorFacts } from './inspector-facts.tsx'
import { InspectorWhy } from './inspector-why.tsx'
import { InspectorWork } from './inspector-work.tsx'
import './inspector.css'

interface InspectorProps {
  readonly session: RunSession
  readonly blockId: string
}

/** All there is to know of the chosen block, beside whatever part of the run is shown. */
export function Inspector({ session, blockId }: InspectorProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  // Whoever chose it by keyboard reads on here; a click leaves the focus where it was.
  useEffect(() => {
    if (document.activeElement?.matches('[data-block]:focus-visible') === true) heading.current?.focus()
  }, [])
  useKeys({ key: 'Escape', label: 'Close the block', run: () => close(blockId) })
  const inspected = inspectBlock(session, blockId)
  return (
    <aside class="inspector card stack" aria-label={`Block ${blockId}`}>
      <header class="inspector-top">
        <div>
          <h2 ref={heading} tabIndex={-1}>
            {blockId}
          </h2>
          {inspected !== undefined && inspected.definition.name !== blockId && (
            <p class="soft">{inspected.definition.name}</p>
          )}
        </div>
        {inspected !== undefined && <StateMark state={inspected.state} />}
        <button type="button" class="inspector-close" onClick={() => close(blockId)} title="Close (Esc)">
          Close
        </button>
      </header>
      {inspected === undefined ? (
        <p>The document of this run has no block with this id.</p>
      ) : (
        <>
          <InspectorWhy inspected={inspected} session={session} />
          <BlockActions session={session} blockId={blockId} />
          <InspectorFacts inspected={inspected} session={session} />
          <InspectorWork inspected={inspected} session={session} />
        </>
      )}
    </aside>
  )
}

/** The focus goes back to what stands for the block, where that is shown. */
function close(blockId: string): void {
  changeQuery({ block: undefined, item: undefined })
  requestAnimationFrame(() => {
    const stands = document.querySelector<HTMLElement>(`[data-block="${CSS.escape(blockId)}"]`)
    if (document.activeElement === document.body) stands?.focus({ preventScroll: true })
  })
}
