import type { RunSession } from '../run-session.ts'
import { InspectorApprovals } from './inspector-approvals.tsx'
import { InspectorArtifacts } from './inspector-artifacts.tsx'
import { InspectorAttempts } from './inspector-attempts.tsx'
import type { Inspected } from './inspector-block.ts'
import { GateList } from './inspector-gates.tsx'
import { InspectorItems } from './inspector-items.tsx'
import { InspectorOutputs } from './inspector-outputs.tsx'
import { InspectorPart } from './inspector-part.tsx'

interface WorkProps {
  readonly inspected: Inspected
  readonly session: RunSession
}

/** What it was asked, what it answered, and how that was judged. */
export function InspectorWork({ inspected, session }: WorkProps) {
  const { definition, fold } = inspected
  const promised = definition.pre_gates.length + definition.post_gates.length
  return (
    <>
      <InspectorApprovals inspected={inspected} session={session} />
      <InspectorOutputs inspected={inspected} session={session} />
      {(promised > 0 || (fold?.gates.length ?? 0) > 0) && (
        <InspectorPart title="Gates">
          <GateList gates={fold?.gates ?? []} promised={[...definition.pre_gates, ...definition.post_gates]} />
        </InspectorPart>
      )}
      <InspectorItems inspected={inspected} />
      <InspectorAttempts inspected={inspected} session={session} />
      <InspectorArtifacts inspected={inspected} session={session} />
      <InspectorPart title="Definition">
        <details>
          <summary>As in the document of the run</summary>
          <pre>{JSON.stringify(definition, null, 2)}</pre>
        </details>
      </InspectorPart>
    </>
  )
}
