// react-datepicker: a controlled field over a date, with a calendar that opens at the focus.
import { useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import DatePicker from 'react-datepicker';
import 'react-datepicker/dist/react-datepicker.css';

function Page() {
  const [day, setDay] = useState(new Date(2026, 10, 10));
  useEffect(() => { window.state = { day: day && `${day.getFullYear()}-${day.getMonth() + 1}-${day.getDate()}` }; });
  return <><label htmlFor="day">Day</label> <DatePicker id="day" selected={day} onChange={setDay} dateFormat="yyyy-MM-dd" /><button>After</button></>;
}

createRoot(document.getElementById('root')).render(<Page />);
