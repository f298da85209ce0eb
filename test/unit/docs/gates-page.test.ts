import { expect, test } from 'vitest'
import { describeGates } from '../../../shared/gates/describe-gates.ts'
import { explainCompositions } from '../../../shared/gates/explain-compositions.ts'
import { explainGate } from '../../../shared/gates/explain-gate.ts'
import { gateFamilies } from '../../../shared/gates/registry.ts'

test('docs/gates.md is what the registry says (vitest -u writes it anew)', async () => {
  const gates = new Map(describeGates().map((gate) => [gate.type, gate]))
  const families = gateFamilies().map(({ family, types }) => {
    const sections = types.flatMap((type) => gates.get(type) ?? []).map(explainGate)
    return [`## ${family}`, ...sections].join('\n\n')
  })
  await expect(`${[HEAD, explainCompositions(), ...families].join('\n\n')}\n`).toMatchFileSnapshot(
    '../../../docs/gates.md',
  )
})

const HEAD = `# Gate types

Made from the registry (\`shared/gates\`); every example is a test. A gate reads ports of its block: pre-gates see inputs,
post-gates see inputs and outputs (outputs win where both have the name). A port that is missing, null or NaN fails; a
check that crashes, runs out of time or cannot run in this place is \`error\`, which is never a pass. The JSON Schema of
the parameters: \`sluice gates list --json\`. One type: \`sluice gates explain TYPE\`. One check without a server:
\`sluice gates check --ndjson\`.`
