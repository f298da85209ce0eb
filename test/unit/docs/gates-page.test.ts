import { expect, test } from 'vitest'
import { describeGates, explainCompositions, explainGate } from '../../../shared/gates/explain.ts'
import { gateFamilies } from '../../../shared/gates/registry.ts'

test('docs/gates.md is what the registry says (vitest -u writes it anew)', async () => {
  const gates = new Map(describeGates().map((gate) => [gate.type, gate]))
  const families = gateFamilies().map(({ family, types }) => {
    const sections = types.flatMap((type) => gates.get(type) ?? []).map(explainGate)
    return [`## ${family}`, ...sections].join('\n\n')
  })
  await expect(`${[HEAD, OWN, ASKING, explainCompositions(), ...families].join('\n\n')}\n`).toMatchFileSnapshot(
    '../../../docs/gates.md',
  )
})

const HEAD = `# Gate types

This page is made from the registry (\`shared/gates\`), and every example on it is a test.

A gate reads ports of its block. Pre-gates see the inputs. Post-gates see inputs and outputs; where both have the same
name, the output counts. What a gate can come to:

- A port that is missing, null or NaN fails.
- A check that crashes, runs out of time or cannot run in this place is \`error\`, which is never a pass.
- A gate on a port whose type it can never pass (\`contains\` on a number) is an error of the document, before the run.

\`sluice gates explain TYPE\` explains one type, \`sluice gates list --json\` has the JSON Schema of all parameters, and
\`sluice gates check --ndjson\` runs one check without a server.`

const OWN = `## A gate of your own

A check whose type is the path of a module is a gate of the project: a file below the folder of \`sluice.yaml\`, written \`./gates/no-competitors.ts\` (\`.ts\`, \`.js\` or \`.mjs\`), whose default export is made by \`defineGate\`:

\`\`\`ts
import { defineGate } from 'sluice'
import * as z from 'zod'

export default defineGate({
  params: z.strictObject({ port: z.string(), names: z.array(z.string()).min(1) }),
  reads: ({ port }) => [port],
  check({ params, port }) {
    const text = String(port(params.port)).toLowerCase()
    const found = params.names.filter((name) => text.includes(name.toLowerCase()))
    return { passed: found.length === 0, reason: found.length === 0 ? 'names no competitor' : \`names \${found.join(', ')}\`, evidence: { found } }
  },
})
\`\`\`

A document uses it like any other type, negated and composed too, wherever a check may stand; gates of tasks in \`sluice.yaml\` as well:

\`\`\`yaml
name: reply
inputs: { notes: { type: string, default: Our product is good. } }
blocks:
  - id: draft
    inputs: { notes: string }
    outputs: { reply: string }
    agent: { provider: local, model: outline }
    post_gates:
      - { name: fair, check: { type: ./gates/no-competitors.ts, port: reply, names: [Acme, Globex] } }
\`\`\`

- \`params\`: a \`z.strictObject\` of zod. \`sluice validate\`, \`plan\`, \`compile\` and every start read the parameters of each check by it and tell what is wrong with line and column. It must read what it has read the same again, and has no key \`type\`, \`not\` or \`module\`.
- \`reads(params)\`: the ports it looks at. They must exist on the block; a port that is missing, null or NaN fails before \`check\` is asked, and \`check\` is given these ports alone. Without \`reads\` it is given all inputs and outputs of the block.
- \`check({ params, inputs, outputs, port })\`: answers \`{ passed, reason, evidence? }\`, or a promise of it. \`port(name)\` is an output, else an input of that name. \`evidence\` is JSON and becomes the facts of the verdict.
- \`sluice\` and \`zod\` are the running package's own where the project has not installed them. Other packages and files are bundled with the module; modules of Node are not there.

A gate is pure: it answers the same for the same call. It has the language and nothing else: no network, files, environment, timers, \`URL\` or \`console\`. \`Date.now()\`, \`new Date()\` without a date, \`Math.random()\` and code made from text throw; dates are told in UTC. Each call begins anew: what one leaves behind no other finds. A module that throws, runs longer than a second, needs more than 64 MB, whose promise never settles, or that answers something else is \`error\` with the reason, never a pass ([limits](limits-and-costs.md#expressions-patterns-and-schemas), [ADR 0072](adr/0072-modules-of-gates-run-pure.md)).

The sha256 of the module with all it imports is its version. It stands in every verdict and gate event (\`version\`), in the CLI and in the console; of a check that is composed of several modules it is the hash of their hashes. A run keeps the code it began with: after a restart, and when it is retried as it is, it judges with that, and \`sluice run verify\` judges again with it. A changed file is taken by the next run. \`module: { version: .. }\` in a check takes no other version. On AWS a stage has the modules that its documents and settings named when it was deployed.`

const ASKING = `## Asking a person

With \`on_fail: ask\`, a pre- or post-gate that fails stops the attempt and asks a person whether the gate may be waived, instead of failing the attempt. Gates of single items cannot ask.

\`\`\`yaml
blocks:
  - id: plan
    outputs: { plan: string }
    agent: { provider: local, model: outline }
    post_gates:
      - { name: long-enough, check: { type: min_length, port: plan, min: 2000 }, on_fail: ask }
\`\`\`

- A person is asked when all gates that failed have \`on_fail: ask\` and the composition would hold without them. If a gate with \`fail\`, \`route\` or \`retry\` failed too, that comes first (in this order): a try is cheaper than a person.
- Whoever may decide on the block's dispatch (\`approval.approvers\`, \`self_approval\`) decides on this too. If the block has no approval of its own, that is the default group, else anyone who may approve. A question that nobody answers within 30 minutes counts as a no. The question stands in the inbox, in Slack and in \`run approve\`, as every approval does. The yes is called \`waive\` and needs a reason ([approvals.md](approvals.md)).
- When post-gates are waived, the outputs go out as they are: nothing is done again. When pre-gates are waived, the attempt begins with the inputs that were shown. A no fails the block with \`ask_rejected\` (no answer in time: \`ask_expired\`), and rules of \`on_gate_fail\` look at these gates.
- A waived gate is \`waived\`, never passed. Its verdict says who waived it, by which way and why, and what had failed. \`get run\`, the report of the block and \`run export\` show this.
- It is waived for this pass and these values only. Another try of the block with the same inputs does not ask again; a pass after a bounce does. So does a retried run: it takes over no result that only a person let pass.
- While the block waits it holds no place among those that run. The run's deadline stands still once nothing else goes on.

A document's \`budget: { tokens: 200000, on_exceed: ask }\` does the same where a call would go over the cap of the run. A yes (\`approve\`) raises the cap by as much as the document gave (by more, if the call needs more), and the attempt goes on. Caps of a block, and the operator's caps, ask nobody, and no person can raise a run over \`max_run_tokens\` or \`max_run_usd\`. Blocks that run side by side each ask; items of one list wait for one answer together.

At most nine questions are asked in an attempt, and at most twenty in a block and pass. After that, a gate or a cap fails as it would without \`ask\`.`
