/** .github/workflows/sluice.yml of a new project. */
export const WORKFLOW = `# Checks documents and gates, then runs the DAG offline. It needs sluice among the devDependencies of package.json.
name: sluice
on: [push, pull_request]
permissions: { contents: read }
jobs:
  check:
    runs-on: ubuntu-latest
    timeout-minutes: 10
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with: { node-version: 24 }
      - run: npm ci --ignore-scripts
      # --no: the sluice of package.json, never a package of that name from a registry.
      - run: npx --no sluice validate
      # Each line of checks/gates.ndjson begins its id with the verdict it must get.
      - run: npx --no sluice gates check --ndjson < checks/gates.ndjson > verdicts.ndjson
      - run: jq -es 'all(.[]; . as $v | $v.id | startswith($v.status))' verdicts.ndjson
      - run: npx --no sluice run start --yes
`

/** checks/gates.ndjson of a new project: what the gates of hello.yaml say of texts whose verdict is known. */
export const GATE_CHECKS = [
  line('passed: a numbered list', { type: 'matches', port: 'text', pattern: '^1\\. ', flags: 'm' }, '1. Read ahead'),
  line('failed: prose', { type: 'matches', port: 'text', pattern: '^1\\. ', flags: 'm' }, 'We read ahead.'),
  line('passed: the decision is named', { type: 'matches', port: 'text', pattern: 'Decision: \\w+' }, 'Decision: yes'),
  line('failed: no decision', { type: 'matches', port: 'text', pattern: 'Decision: \\w+' }, 'They talked.'),
].join('')

function line(id: string, check: object, text: string): string {
  return `${JSON.stringify({ id, check, inputs: {}, outputs: { text } })}\n`
}

/** .gitignore of a new project. */
export const GITIGNORE = `.sluice/
node_modules/
verdicts.ndjson
.env
`
