/** What modules of a project import as `sluice` (docs/steps.md). */
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
