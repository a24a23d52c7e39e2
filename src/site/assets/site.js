import { setUpCode } from './code.js';
import { setUpHeader } from './header.js';
import { setUpDrawer, setUpGliding, setUpTableOfContents } from './navigation.js';

setUpHeader();
setUpCode();
setUpDrawer();
setUpGliding();
setUpTableOfContents();
