/** README.md of a new project. */
export function readmeOf(name: string): string {
  return `# ${name}

| file | what it is |
| --- | --- |
| \`dags/hello.yaml\` | a DAG: read \`inputs/notes.md\`, outline it, check the outline, keep it |
| \`sluice.yaml\` | settings: folders, providers, agents, caps |
| \`inputs/\` | the only folder runs may read files from |
| \`schemas/\` | JSON Schemas for the editor; \`sluice init . --force\` writes them anew after an update |
| \`checks/gates.ndjson\` | what the gates must say of texts that are known |
| \`.github/workflows/sluice.yml\` | checks all of it on every push |

\`\`\`
sluice run start
sluice start
\`\`\`

The first runs the only DAG of the project right here, offline, and says where the outline is. The second serves API and
console on 127.0.0.1:4040; runs started while it is there are seen in the console, and go on after a restart.

- \`sluice validate\` checks every document, \`sluice plan dags/hello.yaml\` says what a run will do.
- \`sluice new dag NAME\` writes another document, \`sluice new gate NAME --type TYPE\` a gate to paste.
- \`sluice doctor\` says what is missing on this machine.
- CI installs sluice from \`package.json\`: \`npm install --save-dev <file or URL of the package>\`, once.
`
}
