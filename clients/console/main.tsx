import { render } from 'preact'
import { App } from './app.tsx'
import './theme.css'
import './frame.css'
import './parts/controls.css'
import './parts/tables-and-states.css'

const root = document.getElementById('app')
if (root !== null) render(<App />, root)
