import { ArtifactsContext } from './artifacts-context.tsx'
import { ArtifactsFiles } from './artifacts-files.tsx'
import { ArtifactsOutputs } from './artifacts-outputs.tsx'
import type { TabProps } from './tab-props.ts'
import './artifacts.css'

/** What the run has made: results, files, and the values its blocks share. */
export function ArtifactsTab({ session }: TabProps) {
  return (
    <div class="artifacts stack">
      <ArtifactsOutputs session={session} />
      <ArtifactsFiles session={session} />
      <ArtifactsContext session={session} />
    </div>
  )
}
