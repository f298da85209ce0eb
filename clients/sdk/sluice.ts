/** What modules of a project import as `sluice` (docs/steps.md, docs/gates.md), and documents in TypeScript (docs/dag.md). */
export {
  type DagBuilder,
  type DagDocument,
  type DagHead,
  defineDag,
  type RunInputPort,
  type Wire,
} from '../../shared/document/define-dag.ts'
export { defineGate, type GateAnswer, type GateCall, type GateDefinition } from '../../shared/gates/define-gate.ts'
export {
  type ArtifactBody,
  defineStep,
  Fail,
  file,
  Retry,
  type Step,
  type StepArtifacts,
  type StepCall,
  type StepDefinition,
  type StepLog,
} from '../../shared/steps/step-definition.ts'
